import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { connectApiServer, HttpApiClient, type WatchEvent } from '../../apiserver/index.ts';
import { silentLog } from '../../base/log.ts';
import { systemClock } from '../../base/system-clock.ts';
import type { ConfigMap } from '../../gen/kubernetes/types.ts';
import { apiResources } from '../../model/api-resources.ts';
import { FakeClock } from '../fake-clock.ts';
import { FakeApiServer, serveFakeApiServer } from './index.ts';

const { configMaps, nodes } = apiResources;
const map = (name: string): ConfigMap => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

function setUp() {
  const clock = new FakeClock();
  const fake = new FakeApiServer({ clock });
  const credentials = { authorization: async () => undefined };
  const api = new HttpApiClient({ transport: fake, credentials, clock, log: silentLog, userAgent: 'x' });
  const stop = new AbortController();
  /** What a watch brings, and how it ends. */
  const watch = async (resourceVersion = String(fake.version)) => {
    const seen: string[] = [];
    const request = { resourceVersion, timeoutSeconds: 300, signal: stop.signal };
    const batches = await api.watch<ConfigMap>(configMaps, request);
    const gather = async (): Promise<void> => {
      for await (const batch of batches) seen.push(...batch.map(wordOf));
      seen.push('end');
    };
    gather().catch((error: { kind?: string }) => void seen.push(error.kind ?? 'stranger'));
    await clock.settle();
    return seen;
  };
  return { clock, fake, api, watch, stop };
}

const wordOf = ({ type, object }: WatchEvent<ConfigMap>): string =>
  type === 'ERROR' ? `${object.code}` : `${type} ${object.metadata?.name ?? ''}`.trim();

describe('faults of requests', () => {
  test('away: nobody answers, until it is back', async () => {
    const { fake, api } = setUp();
    fake.faults.away();
    await assert.rejects(api.list(nodes), { kind: 'unavailable' });
    assert.deepEqual(
      fake.requests().map(({ status }) => status),
      ['lost', 'lost'],
    );
    fake.faults.back();
    await api.list(nodes);
  });

  test('slow and hanging ones take as long as they are told', async () => {
    const { fake, api, clock } = setUp();
    fake.faults.slow(5_000, { when: ({ verb }) => verb === 'list' });
    fake.faults.hang({ times: 1, when: ({ verb }) => verb === 'create' });
    let listed = false;
    const list = api.list(nodes).then(() => (listed = true));
    await clock.advance(4_999);
    assert.ok(!listed);
    await clock.advance(1);
    await list;
    const create = assert.rejects(api.create(configMaps, 'default', map('a'), { timeoutMs: 10_000 }), {
      kind: 'timeout',
    });
    await clock.advance(10_000);
    await create;
    assert.equal(fake.objects.find(configMaps, { name: 'a' }), undefined);
    await api.create(configMaps, 'default', map('a'));
  });

  test('refusals do nothing, and may say when to come again', async () => {
    const { fake, api, clock } = setUp();
    fake.faults.refuse(500, { times: 1, when: ({ resource }) => resource === 'configmaps' });
    await api.list(nodes);
    await assert.rejects(api.create(configMaps, 'default', map('a')), { status: 500, kind: 'unavailable' });
    assert.equal(fake.objects.find(configMaps, { name: 'a' }), undefined);
    fake.faults.refuse(429, { times: 1, retryAfterSeconds: 7 });
    const create = api.create(configMaps, 'default', map('a'));
    await clock.advance(6_999);
    assert.equal(fake.objects.find(configMaps, { name: 'a' }), undefined);
    await clock.advance(1);
    await create;
    assert.deepEqual(
      fake.requests({ verb: 'create' }).map(({ status }) => status),
      [500, 429, 201],
    );
  });

  test('an answer is lost, the deed is done', async () => {
    const { fake, api } = setUp();
    fake.faults.loseAnswers({ times: 1 });
    await assert.rejects(api.create(configMaps, 'default', map('a')), { kind: 'unavailable' });
    assert.ok(fake.objects.find(configMaps, { name: 'a' }) !== undefined);
    await assert.rejects(api.create(configMaps, 'default', map('a')), { kind: 'alreadyExists' });
    fake.faults.cutAnswers({ times: 1 });
    await assert.rejects(api.list(configMaps), { kind: 'unavailable' });
    fake.faults.cutAnswers();
    fake.faults.clear();
    await api.list(configMaps);
  });
});

describe('faults of watches', () => {
  test('they end in three ways', async () => {
    const { fake, watch, clock } = setUp();
    const ways = { broken: ['unavailable'], ended: ['end'], expired: ['410', 'end'] } as const;
    for (const [how, words] of Object.entries(ways)) {
      const seen = await watch();
      assert.equal(fake.watches, 1);
      fake.faults.dropWatches(how as keyof typeof ways);
      await clock.settle();
      assert.deepEqual([seen, fake.watches], [words, 0]);
    }
    const seen = await watch();
    fake.faults.away();
    await clock.settle();
    assert.deepEqual(seen, ['unavailable']);
  });

  test('a half-open one brings nothing, not even its end', async () => {
    const { fake, watch, clock, stop } = setUp();
    const seen = await watch();
    fake.faults.silenceWatches();
    const fresh = await watch();
    fake.objects.put(map('a'));
    await clock.settle();
    fake.faults.away();
    fake.faults.back();
    await clock.advance(3_600_000);
    assert.deepEqual([seen, fresh], [[], ['ADDED a', 'unavailable']]);
    fake.reset();
    await clock.settle();
    assert.deepEqual(seen, ['unavailable']);
    const third = await watch();
    fake.faults.silenceWatches();
    stop.abort();
    await clock.settle();
    assert.deepEqual([third, fake.watches], [['cancelled'], 0]);
  });

  test('garbage is brought as it is', async () => {
    const { fake, watch, clock } = setUp();
    const seen = await watch();
    fake.objects.put(map('a'));
    fake.faults.garbage();
    await clock.settle();
    assert.deepEqual([seen, fake.watches], [['ADDED a', 'invalid'], 0]);
  });

  test('bookmarks come each minute when there is something new, and before the end', async () => {
    const { fake, watch, clock } = setUp();
    const seen = await watch();
    await clock.advance(60_000);
    assert.deepEqual(seen, []);
    fake.objects.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
    await clock.advance(60_000);
    assert.deepEqual(seen, ['BOOKMARK']);
    await clock.advance(178_000);
    assert.deepEqual(seen, ['BOOKMARK', 'BOOKMARK', 'BOOKMARK', 'BOOKMARK']);
    await clock.advance(2_000);
    assert.equal(seen.at(-1), 'end');
  });
});

describe('the store', () => {
  test('goes back, with its versions', async () => {
    const { fake, api, watch, clock } = setUp();
    fake.objects.put(map('a'));
    const snapshot = fake.snapshot();
    const before = fake.version;
    fake.objects.put(map('b'));
    fake.objects.wipe(configMaps, { name: 'a' });
    const seen = await watch();
    const known = String(fake.version);
    fake.restore(snapshot);
    await clock.settle();
    assert.deepEqual(seen, ['unavailable']);
    assert.equal(fake.version, before);
    assert.deepEqual(
      fake.objects.all<ConfigMap>(configMaps).map(({ metadata }) => metadata?.name),
      ['a'],
    );
    // From a version that never was it is silent; from one that is forgotten it says so.
    const silent = await watch(known);
    const old = await watch(String(before - 1));
    fake.objects.put(map('c'));
    await clock.settle();
    assert.deepEqual([silent, old], [[], ['410', 'end']]);
    const list = assert.rejects(api.list(configMaps, { resourceVersion: known }), { status: 504 });
    await clock.advance(3_000);
    await list;
  });

  test('forgets by itself what is long ago', async () => {
    const clock = new FakeClock();
    const fake = new FakeApiServer({ clock, historyLimit: 3 });
    const path = `/api/v1/configmaps?resourceVersion=${fake.version}&resourceVersionMatch=Exact`;
    const ask = async (): Promise<number> =>
      (await fake.send({ method: 'GET', path, headers: {}, signal: new AbortController().signal })).status;
    for (const name of ['a', 'b', 'c']) fake.objects.put(map(name));
    assert.equal(await ask(), 200);
    fake.objects.put(map('d'));
    assert.equal(await ask(), 410);
  });
});

describe('behind HTTPS', () => {
  async function served(context: TestContext) {
    const clock = systemClock();
    const fake = new FakeApiServer({ clock });
    const server = await serveFakeApiServer(fake);
    const access = await server.access({ name: 'system:node:a', groups: ['system:nodes'] });
    const { transport, credentials } = await connectApiServer(access, { clock, log: silentLog, environment: {} });
    context.after(async () => {
      await transport.close();
      await server.stop();
    });
    const api = new HttpApiClient({ transport, credentials, clock, log: silentLog, userAgent: 'x' });
    return { fake, server, api };
  }

  test('the certificate says who asks', async (context) => {
    const { fake, api } = await served(context);
    await api.list(nodes);
    assert.equal(fake.requests()[0]?.user, 'system:node:a');
  });

  test('faults look like a broken connection', async (context) => {
    const { fake, api, server } = await served(context);
    fake.faults.loseAnswers({ times: 1 });
    await assert.rejects(api.create(configMaps, 'default', map('a')), { kind: 'unavailable' });
    assert.ok(fake.objects.find(configMaps, { name: 'a' }) !== undefined);
    fake.faults.cutAnswers({ times: 1 });
    await assert.rejects(api.list(configMaps), { kind: 'unavailable' });
    fake.faults.away();
    await assert.rejects(api.list(configMaps), { kind: 'unavailable' });
    fake.faults.back();
    assert.equal((await api.list(configMaps)).items.length, 1);
    await server.stop();
    await assert.rejects(api.list(configMaps), { kind: 'unavailable' });
    await server.start();
    assert.equal((await api.list(configMaps)).items.length, 1);
  });
});
