import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { Heartbeats } from '../base/heartbeats.ts';
import { TubeletError } from '../base/errors.ts';
import type { ConfigMap } from '../gen/kubernetes/types.ts';
import type { MirrorChange } from '../model/api-client.ts';
import { apiResources } from '../model/api-resources.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { answerOf, ScriptedBody, ScriptedTransport } from '../testing/scripted-transport.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { HttpApiClient } from './api-client.ts';
import { withoutManagedFields } from './mirror-store.ts';
import { Reflector, type ReflectorDeps } from './reflector.ts';
import type { TransportAnswer } from './ports.ts';

const at = (name: string, version: number, more: object = {}) => ({
  metadata: { name, namespace: 'd', uid: `uid-${name}`, resourceVersion: String(version), ...more },
});
const listOf = (version: number, ...items: readonly object[]) =>
  answerOf(200, { metadata: { resourceVersion: String(version) }, items });
const event = (type: string, object: object) => ({ type, object });
const bookmark = (version: number) => event('BOOKMARK', { metadata: { resourceVersion: String(version) } });
const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };

/** A server of one list, whose watches the test writes by hand. */
async function setUp(context: TestContext, more: Partial<ReflectorDeps<ConfigMap>> = {}) {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const random = seededRandom(7);
  const world = {
    list: (_path: string): TransportAnswer | Promise<TransportAnswer> => listOf(10),
    onWatch: (body: ScriptedBody): TransportAnswer | Promise<TransportAnswer> => ({ status: 200, headers: {}, body }),
  };
  const watches: ScriptedBody[] = [];
  const transport = new ScriptedTransport(({ path, signal }) => {
    if (!path.includes('watch=1')) return world.list(path);
    const body = new ScriptedBody(signal);
    watches.push(body);
    return world.onWatch(body);
  });
  const api = new HttpApiClient({
    transport,
    clock,
    log,
    userAgent: 'x',
    credentials: { authorization: async () => undefined },
  });
  const mirror = new Reflector<ConfigMap>({
    heartbeats: new Heartbeats(),
    api,
    clock,
    log,
    random,
    resource: apiResources.configMaps,
    ...more,
  });
  const changes: string[] = [];
  mirror.listen((change: MirrorChange<ConfigMap>) => {
    if (change.type === 'replaced') changes.push('replaced');
    else changes.push(`${change.type} ${change.object.metadata?.name}@${change.object.metadata?.resourceVersion}`);
  });
  await mirror.start(new AbortController().signal);
  context.after(() => mirror.stop());
  await clock.settle();
  return {
    clock,
    log,
    world,
    transport,
    mirror,
    watches,
    watch: () => watches.at(-1)!,
    lists: () => transport.requests.filter(({ path }) => !path.includes('watch=1')),
    query: () => Object.fromEntries(new URL(transport.requests.at(-1)!.path, 'http://x').searchParams),
    /** The changes since the last call. */
    reported: () => changes.splice(0),
  };
}

describe('a mirror', () => {
  test('lists once from any version, then watches from there', async (context) => {
    const { clock, mirror, reported, query, lists, watch, transport } = await setUp(context, {
      fieldSelector: 'metadata.name=a',
    });
    assert.equal(new URL(lists()[0]!.path, 'http://x').searchParams.get('resourceVersion'), '0');
    const { timeoutSeconds, ...asked } = query();
    assert.deepEqual(asked, {
      watch: '1',
      allowWatchBookmarks: 'true',
      resourceVersion: '10',
      fieldSelector: 'metadata.name=a',
    });
    assert.ok(Number(timeoutSeconds) >= 300 && Number(timeoutSeconds) <= 600);
    assert.deepEqual(reported(), ['replaced']);
    assert.ok(mirror.synced());
    watch().write(event('ADDED', at('a', 11)), event('MODIFIED', at('a', 12)), event('MODIFIED', at('a', 12)));
    await clock.settle();
    assert.deepEqual(reported(), ['put a@11', 'put a@12']);
    assert.equal(mirror.get({ namespace: 'd', name: 'a' })?.metadata?.resourceVersion, '12');
    assert.ok(Object.isFrozen(mirror.all()[0]));
    watch().write(event('DELETED', at('a', 13)), event('DELETED', at('a', 14)));
    await clock.settle();
    assert.deepEqual(reported(), ['removed a@13']);
    assert.deepEqual(mirror.all(), []);
    assert.equal(transport.requests.length, 2);
  });

  test('continues at the last bookmark or event when a watch ends normally', async (context) => {
    const { clock, watch, query, reported, lists } = await setUp(context);
    watch().write(event('ADDED', at('a', 11)), bookmark(40));
    await clock.advance(2_000);
    watch().end();
    await clock.settle();
    assert.equal(query()['resourceVersion'], '40');
    assert.equal(lists().length, 1);
    assert.deepEqual(reported(), ['replaced', 'put a@11']);
  });

  test('is not reported before the first answer of the server', async (context) => {
    const clock = new FakeClock();
    const transport = new ScriptedTransport(() => Promise.reject(new TubeletError('unavailable', 'refused')));
    const log = new MemoryLog();
    const api = new HttpApiClient({
      transport,
      clock,
      log,
      userAgent: 'x',
      credentials: { authorization: async () => undefined },
    });
    const mirror = new Reflector({
      heartbeats: new Heartbeats(),
      api,
      clock,
      log,
      random: seededRandom(1),
      resource: apiResources.nodes,
    });
    await mirror.start(new AbortController().signal);
    context.after(() => mirror.stop());
    await clock.advance(600_000);
    assert.ok(!mirror.synced());
    assert.deepEqual(log.messages('warn'), ['Watch failed and will be tried again']);
    const tries = transport.requests.length;
    // Two requests for each try (a GET is sent once more); the longest wait is 30 s and half of it.
    assert.ok(tries > 2 * (600 / 46) && tries < 2 * (600 / 30 + 8), `${tries} requests`);
    transport.script = () => listOf(5);
    const synced = mirror.whenSynced(new AbortController().signal);
    await clock.advance(45_000);
    await synced;
    const stop = new AbortController();
    stop.abort();
    await mirror.whenSynced(stop.signal);
  });

  test('reports to a later listener that the mirror is filled', async (context) => {
    const { mirror } = await setUp(context);
    const heard: string[] = [];
    const leave = mirror.listen(({ type }) => heard.push(type));
    assert.deepEqual(heard, ['replaced']);
    leave();
  });

  test('survives listeners that throw', async (context) => {
    const { clock, mirror, watch, reported, log } = await setUp(context);
    mirror.listen(() => {
      throw new Error('listener');
    });
    watch().write(event('ADDED', at('a', 11)));
    await clock.settle();
    assert.deepEqual(reported(), ['replaced', 'put a@11']);
    assert.equal(log.messages('error').length, 2);
  });
});

describe('a list again', () => {
  test('reports the difference only, and unchanged objects stay the same', async (context) => {
    const { clock, world, mirror, watch, reported, lists } = await setUp(context);
    watch().write(
      event('ADDED', at('a', 11)),
      event('ADDED', at('b', 12)),
      event('ADDED', at('c', 13)),
      event('ADDED', at('e', 14)),
    );
    await clock.settle();
    const kept = mirror.get({ namespace: 'd', name: 'a' });
    reported();
    world.list = () => listOf(20, at('a', 11), at('b', 18), at('d', 19), at('e', 14, { uid: 'another' }));
    watch().write(event('ERROR', gone));
    await clock.settle();
    assert.deepEqual(reported(), ['replaced', 'removed c@13', 'put b@18', 'put d@19', 'removed e@14', 'put e@14']);
    assert.equal(mirror.get({ namespace: 'd', name: 'a' }), kept);
    // After 410 only the newest list is good enough.
    assert.equal(new URL(lists()[1]!.path, 'http://x').searchParams.get('resourceVersion'), null);
  });

  test('after 410 by HTTP comes at once, and not again and again without pause', async (context) => {
    const { clock, world, watch, lists } = await setUp(context);
    world.onWatch = () => answerOf(410, gone);
    await clock.advance(2_000);
    watch().end();
    await clock.settle();
    assert.equal(lists().length, 2);
    await clock.advance(60_000);
    assert.ok(lists().length >= 4 && lists().length < 16, `${lists().length} lists`);
  });

  test('after a broken connection is not older than what is known', async (context) => {
    const { clock, world, watch, lists, reported } = await setUp(context);
    watch().write(event('ADDED', at('a', 11)), '{"type":"ADDED","obj');
    world.list = () => listOf(30, at('a', 11));
    watch().break();
    await clock.settle();
    assert.equal(lists().length, 1);
    await clock.advance(1_200);
    assert.equal(lists().length, 2);
    assert.equal(new URL(lists()[1]!.path, 'http://x').searchParams.get('resourceVersion'), '11');
    assert.deepEqual(reported(), ['replaced', 'put a@11', 'replaced']);
  });

  test('of a server with an older store counts, deletions included', async (context) => {
    const { clock, world, watch, reported, lists, query, log } = await setUp(context);
    watch().write(event('ADDED', at('a', 11)), event('ADDED', at('b', 900)));
    await clock.settle();
    reported();
    const tooLarge = {
      kind: 'Status',
      code: 504,
      reason: 'Timeout',
      message: 'Too large resource version: 900, current: 50',
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    };
    world.list = (path) => (path.includes('resourceVersion=') ? answerOf(504, tooLarge) : listOf(50, at('a', 11)));
    watch().break();
    await clock.advance(1_200);
    assert.deepEqual(reported(), ['replaced', 'removed b@900']);
    assert.equal(lists().length, 3);
    assert.equal(query()['resourceVersion'], '50');
    assert.ok(log.messages('warn').some((message) => message.includes('older store')));
    watch().write(event('ADDED', at('c', 51)));
    await clock.settle();
    assert.deepEqual(reported(), ['put c@51']);
  });

  test('follows an event of an older version', async (context) => {
    const { clock, world, watch, reported, mirror } = await setUp(context);
    world.list = () => listOf(6, at('x', 5));
    watch().write(event('ADDED', at('a', 11)), event('MODIFIED', at('a', 4)));
    await clock.settle();
    assert.deepEqual(reported(), ['replaced', 'put a@11', 'replaced', 'removed a@11', 'put x@5']);
    assert.equal(mirror.all().length, 1);
  });

  test('follows garbage, for ever', async (context) => {
    const { clock, world, watch, reported, lists, watches } = await setUp(context);
    reported();
    world.onWatch = (body) => {
      body.write('<html>\n');
      return { status: 200, headers: {}, body };
    };
    watch().write('garbage\n');
    await clock.advance(300_000);
    assert.ok(lists().length > 8 && lists().length < 30, `${lists().length} lists`);
    assert.ok(watches.every(({ left }) => left));
    world.onWatch = (body) => ({ status: 200, headers: {}, body });
    await clock.advance(45_000);
    reported();
    watch().write(event('ADDED', at('a', 11)));
    await clock.settle();
    assert.deepEqual(reported(), ['put a@11']);
  });

  test('comes when a caller doubts', async (context) => {
    const { clock, world, mirror, lists, reported } = await setUp(context);
    world.list = () => listOf(12, at('a', 12));
    mirror.doubt();
    await clock.settle();
    assert.equal(lists().length, 2);
    assert.deepEqual(reported(), ['replaced', 'replaced', 'put a@12']);
  });

  test('that never comes keeps the known objects', async (context) => {
    const { clock, world, watch, mirror } = await setUp(context);
    watch().write(event('ADDED', at('a', 11)));
    await clock.settle();
    world.list = () => answerOf(500, 'down');
    watch().break();
    await clock.advance(3_600_000);
    assert.ok(mirror.synced());
    assert.equal(mirror.all().length, 1);
  });
});

describe('silence', () => {
  test('beyond the bookmarks of a server is detected', async (context) => {
    const { clock, transport, watch, lists } = await setUp(context);
    for (let minute = 1; minute <= 3; minute++) {
      watch().write(bookmark(10 + minute));
      await clock.advance(60_000);
    }
    await clock.advance(179_000);
    assert.equal(transport.resets, 0);
    const silent = watch();
    await clock.advance(2_000);
    assert.equal(transport.resets, 1);
    assert.ok(silent.left);
    assert.equal(new URL(lists()[1]!.path, 'http://x').searchParams.get('resourceVersion'), '13');
    assert.notEqual(watch(), silent);
  });

  test('of a server without bookmarks is detected after the promised end', async (context) => {
    const { clock, transport, query } = await setUp(context);
    const promised = Number(query()['timeoutSeconds']) * 1_000;
    await clock.advance(promised + 179_000);
    assert.equal(transport.resets, 0);
    await clock.advance(2_000);
    assert.equal(transport.resets, 1);
  });
});

test('watches that end at once do not become a busy loop', async (context) => {
  const { clock, world, watch, watches, lists } = await setUp(context);
  world.onWatch = (body) => {
    body.end();
    return { status: 200, headers: {}, body };
  };
  watch().end();
  await clock.advance(60_000);
  assert.ok(watches.length > 3 && watches.length < 12, `${watches.length} watches`);
  assert.ok(lists().length <= watches.length, 'a list for each that proved nothing, and no more');
});

test('stopping ends the watch and leaves no timer', async (context) => {
  const { clock, mirror, watch } = await setUp(context);
  await mirror.stop();
  assert.ok(watch().left);
  assert.equal(clock.pending(), 0);
});

test('managed fields need not be kept', async (context) => {
  const { clock, mirror, watch } = await setUp(context, { transform: withoutManagedFields });
  watch().write(event('ADDED', at('a', 11, { managedFields: [{ manager: 'x' }] })));
  await clock.settle();
  assert.deepEqual(mirror.all()[0]?.metadata, at('a', 11).metadata);
});
