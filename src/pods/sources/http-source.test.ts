import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';
import { format } from 'node:util';
import { Heartbeats } from '../../base/heartbeats.ts';
import { describeError, TubeletError } from '../../base/errors.ts';
import { Masked } from '../../base/masked.ts';
import { nodeHttp } from '../../host/index.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { defaultPodRules } from '../../model/validation/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { HttpSource } from './http-source.ts';
import type { HttpAnswer, HttpClient } from './ports.ts';

const period = 20_000;
const pod = (name: string, image = 'i'): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'c', image }] },
  });
const list = (...pods: readonly string[]): string =>
  `{"apiVersion": "v1", "kind": "PodList", "items": [${pods.join(', ')}]}`;

const never = Symbol('never');

/** A server that gives the answer it was last set to; an error, a status or a body. */
class FakeClient implements HttpClient {
  answer: string | number | Error | typeof never = 500;
  asked = 0;

  async get(_url: URL, _headers: unknown, signal: AbortSignal): Promise<HttpAnswer> {
    this.asked++;
    const { answer } = this;
    if (answer === never) {
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', reject);
      });
    }
    if (answer instanceof Error) throw answer;
    const body = async function* (): AsyncGenerator<Uint8Array> {
      if (typeof answer === 'string' && answer !== '') yield Buffer.from(answer);
    };
    return { status: typeof answer === 'number' ? answer : 200, location: undefined, body: body(), close: () => {} };
  }
}

let sources: HttpSource[] = [];
afterEach(async () => {
  for (const source of sources) await source.stop();
  sources = [];
});

interface World {
  readonly clock: FakeClock;
  readonly log: MemoryLog;
  readonly source: HttpSource;
  readonly sets: string[];
  readonly pods: () => readonly DesiredPod[];
}

async function world(
  client: HttpClient,
  url = 'http://host/pods',
  onSet: () => void = () => {},
  signal = new AbortController().signal,
): Promise<World> {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const sets: string[] = [];
  let last: readonly DesiredPod[] = [];
  const source = new HttpSource({
    preventApiReferences: true,
    rules: defaultPodRules,
    heartbeats: new Heartbeats(),
    clock,
    random: seededRandom(1),
    log,
    client,
    url,
    headers: new Masked({ Authorization: ['Bearer hunter2'] }),
    nodeName: 'node',
    httpCheckFrequencyMs: period,
    onSet: (_source, published) => {
      last = published;
      sets.push(published.map((one) => one.name.replace(/-node$/, '')).join(' '));
      onSet();
    },
  });
  sources.push(source);
  await source.start(signal);
  return { clock, log, source, sets, pods: () => last };
}

const errors = (log: MemoryLog): string[] =>
  log.entries.filter(({ severity }) => severity === 'error').map(({ error }) => describeError(error));

test('the first fetch is at once, then one after each period', async () => {
  const client = new FakeClient();
  client.answer = pod('a');
  const { clock, sets, pods } = await world(client);
  await clock.settle();
  assert.deepEqual(sets, ['a']);
  const [first] = pods();
  assert.equal(first?.source, 'http');
  assert.equal(first.metadata.annotations?.['kubernetes.io/config.source'], 'http');
  assert.equal(first.spec.tolerations, undefined);

  client.answer = list(pod('a'), pod('b'));
  await clock.advance(period - 1);
  assert.equal(client.asked, 1);
  await clock.advance(1);
  assert.deepEqual(sets, ['a', 'a b']);
  assert.equal(pods()[0]?.uid, first.uid);

  client.answer = list();
  await clock.advance(period);
  assert.deepEqual(sets, ['a', 'a b', '']);
});

test('identical bytes are no news', async () => {
  const client = new FakeClient();
  client.answer = `${pod('a')}\n`;
  const { clock, sets, log } = await world(client);
  await clock.advance(10 * period);
  assert.equal(client.asked, 11);
  assert.deepEqual(sets, ['a']);
  assert.deepEqual(errors(log), []);
});

test('failing fetches keep the last good set, and each reason is logged once', async () => {
  const client = new FakeClient();
  client.answer = pod('a');
  const { clock, sets, log } = await world(client);
  await clock.settle();
  client.answer = 503;
  await clock.advance(3 * period);
  client.answer = new Error('connect ECONNREFUSED');
  await clock.advance(3 * period);
  client.answer = '';
  await clock.advance(5 * period);
  assert.deepEqual(errors(log), [
    'the server answers 503 Service Unavailable',
    'no answer: connect ECONNREFUSED',
    'the body is empty',
  ]);
  client.answer = pod('a');
  await clock.advance(period);
  assert.deepEqual(log.messages('info'), ['The URL answers again']);
  client.answer = 503;
  await clock.advance(period);
  assert.equal(errors(log).length, 4, 'after good days the same reason is news');
  assert.deepEqual(sets, ['a']);
});

test('a source that has had no answer yet publishes nothing', async () => {
  const client = new FakeClient();
  const { clock, sets } = await world(client);
  for (const answer of [500, new TubeletError('unavailable', 'no'), '<html>', 'kind: Pod', '', '']) {
    client.answer = answer;
    await clock.advance(period);
  }
  assert.deepEqual(sets, []);
  client.answer = list();
  await clock.advance(period);
  assert.deepEqual(sets, ['']);
});

test('a server that never has a body has no pods', async () => {
  const client = new FakeClient();
  client.answer = '';
  const { clock, sets } = await world(client);
  await clock.advance(2 * period - 1);
  assert.deepEqual(sets, []);
  await clock.advance(1);
  assert.deepEqual(sets, ['']);
});

test('faults in a body are reported once with their lines; the good pods count, the others stay', async () => {
  const client = new FakeClient();
  client.answer = `${pod('a')}\n---\n${pod('b')}`;
  const { clock, sets, log, pods } = await world(client);
  await clock.settle();
  const before = pods()[1]?.uid;
  client.answer = `${pod('a', 'j')}\n---\n${pod('b', '')}`;
  await clock.advance(5 * period);
  assert.deepEqual(sets, ['a b', 'a b']);
  assert.equal(pods()[1]?.uid, before);
  assert.equal(pods()[0]?.spec.containers[0]?.image, 'j');
  assert.deepEqual(errors(log), ['http://host/pods:3: spec.containers[0].image: Required value']);
  assert.deepEqual(log.messages('warn'), ['Keeping the pods of the last good manifest running']);
});

test('objects and references to them are refused: they belong to the folder', async () => {
  const client = new FakeClient();
  client.answer = [
    pod('a').replace('"c"', '"c","envFrom":[{"secretRef":{"name":"s"}}]'),
    '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"k":"hunter2"}}',
  ].join('\n---\n');
  const { clock, sets, log } = await world(client);
  await clock.settle();
  assert.deepEqual(sets, []);
  const [reference, kind] = errors(log);
  assert.equal(reference, 'http://host/pods:1: pod a: static pods may not reference secrets');
  assert.match(
    kind ?? '',
    /^http:\/\/host\/pods:3: kind: Unsupported value: "Secret": .*only from the manifest folder/,
  );
});

test('a fetch that hangs ends after ten seconds; a stop ends it at once', async () => {
  const client = new FakeClient();
  client.answer = never;
  const { clock, log, source } = await world(client);
  await clock.advance(10_000);
  assert.deepEqual(errors(log), ['timed out after 10000 ms']);
  await clock.advance(period);
  assert.equal(client.asked, 2);
  await source.stop();
  assert.equal(clock.pending(), 0);
  assert.equal(errors(log).length, 1);
});

test('nothing is published after the stop', async () => {
  const client = new FakeClient();
  client.answer = pod('a');
  const { clock, source, sets } = await world(client);
  await clock.settle();
  client.answer = pod('b');
  await source.stop();
  await clock.advance(3 * period);
  assert.deepEqual(sets, ['a']);
  assert.equal(client.asked, 1);
  assert.equal(clock.pending(), 0);
});

test('the signal given to start ends it like a stop; with one that was aborted before no request is sent', async () => {
  const client = new FakeClient();
  client.answer = pod('a');
  const running = new AbortController();
  const { clock } = await world(client, 'http://host/', () => {}, running.signal);
  await clock.settle();
  running.abort();
  await clock.advance(3 * period);
  assert.equal(client.asked, 1);
  assert.equal(clock.pending(), 0);
  const { clock: second } = await world(client, 'http://host/', () => {}, AbortSignal.abort());
  await second.advance(period);
  assert.equal(client.asked, 1);
});

test('what takes the set may throw; the source goes on', async () => {
  const client = new FakeClient();
  client.answer = pod('a');
  const { clock, log } = await world(client, 'http://host/', () => {
    throw new Error('not now');
  });
  await clock.settle();
  assert.deepEqual(log.messages('error'), ['The set of static pods was not taken']);
  await clock.advance(period);
  assert.equal(client.asked, 2);
});

test('neither headers nor secrets of the URL are ever printed', async () => {
  const client = new FakeClient();
  const { clock, log, source } = await world(client, 'http://user:hunter2@host/pods?token=hunter2');
  for (const answer of [500, new Error('broken'), '', 'kind: Pod', pod('a', ''), pod('a')]) {
    client.answer = answer;
    await clock.advance(period);
  }
  assert.ok(log.entries.length > 5);
  for (const entry of log.entries) {
    const text = `${JSON.stringify(entry)} ${format('%O', entry)} ${describeError(entry.error)}`;
    assert.ok(!text.includes('hunter2'), text);
  }
  assert.ok(!format('%O', source).includes('Bearer'));
});

test('a real server', async () => {
  const bodies = [list(pod('a'), pod('b')), 'broken off', pod('c')];
  const authorizations: (string | undefined)[] = [];
  const server: Server = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    const body = bodies.shift() ?? '';
    if (body === 'broken off') request.socket.destroy();
    else response.end(body);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/pods`;
  const { clock, sets, log } = await world(nodeHttp, url);
  const until = async (done: () => boolean): Promise<void> => {
    while (!done()) await new Promise<void>((resolve) => void setImmediate(resolve));
  };
  await until(() => sets.length === 1);
  await clock.advance(period);
  await until(() => errors(log).length === 1);
  await clock.advance(period);
  await until(() => sets.length === 2);
  assert.deepEqual(sets, ['a b', 'c']);
  assert.deepEqual(authorizations, ['Bearer hunter2', 'Bearer hunter2', 'Bearer hunter2']);
  server.closeAllConnections();
  await new Promise((resolve) => void server.close(resolve));
});
