import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { TubeletError } from '../base/errors.ts';
import type { Pod } from '../gen/kubernetes/types.ts';
import { apiResources } from '../model/api-resources.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryCalls } from '../testing/memory-calls.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { answerOf, ScriptedTransport, type Script } from '../testing/scripted-transport.ts';
import { HttpApiClient, type HttpApiClientDeps } from './api-client.ts';

const { pods, nodes, leases, serviceAccounts, events } = apiResources;
const web = { namespace: 'default', name: 'web' };

function setUp(script: Script, more: Partial<HttpApiClientDeps> = {}) {
  const clock = new FakeClock();
  const transport = new ScriptedTransport(script);
  const client = new HttpApiClient({
    transport,
    credentials: { authorization: async () => 'Bearer t' },
    clock,
    log: new MemoryLog(),
    userAgent: 'kubelet/v1.34.0 (linux/amd64) kubernetes/abc',
    ...more,
  });
  return { clock, transport, client, last: () => transport.requests.at(-1)! };
}

const status = (code: number, reason: string, message: string, more: object = {}) =>
  answerOf(code, { kind: 'Status', status: 'Failure', code, reason, message, ...more });

describe('requests', () => {
  test('go where the object lives', async () => {
    const { client, last } = setUp(() => answerOf(200, { kind: 'X' }));
    const asked = () => `${last().method} ${last().path}`;
    await client.get(pods, web);
    assert.equal(asked(), 'GET /api/v1/namespaces/default/pods/web');
    assert.deepEqual(last().headers, {
      accept: 'application/json',
      'user-agent': 'kubelet/v1.34.0 (linux/amd64) kubernetes/abc',
      authorization: 'Bearer t',
    });
    await client.get(nodes, { name: 'a b' });
    assert.equal(asked(), 'GET /api/v1/nodes/a%20b');
    await client.update(leases, { namespace: 'kube-node-lease', name: 'n' }, {}, { lane: 'vital' });
    assert.equal(asked(), 'PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n');
    await client.create(serviceAccounts, 'default', {}, { of: 'sa', subresource: 'token' });
    assert.equal(asked(), 'POST /api/v1/namespaces/default/serviceaccounts/sa/token');
    await client.patch(pods, web, { a: 1 }, { type: 'strategic', subresource: 'status' });
    assert.equal(asked(), 'PATCH /api/v1/namespaces/default/pods/web/status');
    assert.equal(last().headers['content-type'], 'application/strategic-merge-patch+json');
    assert.equal(last().body, '{"a":1}');
    await client.delete(pods, web, { gracePeriodSeconds: 0, uid: 'u' });
    assert.deepEqual(JSON.parse(last().body!), {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      gracePeriodSeconds: 0,
      preconditions: { uid: 'u' },
    });
  });

  test('never reach into another path', async () => {
    const { client, transport } = setUp(() => answerOf(200, {}));
    for (const name of ['', '.', '..', 'a/b']) {
      await assert.rejects(client.get(pods, { namespace: 'default', name }), { kind: 'invalid' });
    }
    await assert.rejects(client.get(pods, { name: 'web' }), /needs its namespace/);
    assert.equal(transport.requests.length, 0);
  });
});

describe('refusals', () => {
  const table = [
    [status(404, 'NotFound', 'pods "web" not found'), 'notFound', 'pods "web" not found'],
    [status(409, 'AlreadyExists', 'there'), 'alreadyExists', 'there'],
    [status(409, 'Conflict', 'modified'), 'conflict', 'modified'],
    [status(403, 'Forbidden', 'no'), 'denied', 'no'],
    [status(401, 'Unauthorized', 'who'), 'denied', 'who'],
    [status(422, 'Invalid', 'bad'), 'invalid', 'bad'],
    [status(429, 'TooManyRequests', 'slow'), 'exhausted', 'slow'],
    [status(504, 'Timeout', 'late'), 'timeout', 'late'],
    [status(500, 'InternalError', 'etcd'), 'unavailable', 'etcd'],
    [answerOf(502, '<html>\n bad gateway</html>'), 'unavailable', '<html> bad gateway</html>'],
    [answerOf(503, ''), 'unavailable', 'HTTP status 503'],
  ] as const;
  for (const [answer, kind, words] of table) {
    test(`${answer.status} ${words} is ${kind}`, async () => {
      const { client } = setUp(() => answer);
      await assert.rejects(client.get(pods, web), {
        kind,
        remoteMessage: words,
        message: `GET pods default/web: ${words}`,
      });
    });
  }

  test('redirects are not followed', async () => {
    const { client, transport } = setUp(() => answerOf(301, '', { location: 'http://evil/' }));
    await assert.rejects(client.get(pods, web), { kind: 'unavailable', message: /redirects are not followed/ });
    assert.equal(transport.requests.length, 1);
  });

  test('an answer that is not a JSON object is a failure, and is not repeated', async () => {
    for (const body of ['', 'secret{', '"secret"', 'null']) {
      const { client } = setUp(() => answerOf(200, body));
      await assert.rejects(client.get(pods, web), (error: Error) => {
        assert.match(error.message, /the answer is not a JSON object/);
        assert.doesNotMatch(error.message, /secret/);
        return true;
      });
    }
  });
});

describe('trying again', () => {
  test('after the time the server asks for, within the deadline', async () => {
    const busy = () => answerOf(429, { kind: 'Status', message: 'busy' }, { 'retry-after': '2' });
    const { client, clock, transport } = setUp((_, count) => (count < 3 ? busy() : answerOf(200, { kind: 'Pod' })));
    const got = client.get(pods, web);
    await clock.advance(1_999);
    assert.equal(transport.requests.length, 1);
    await clock.advance(2_001);
    assert.equal(transport.requests.length, 3);
    await got;
    transport.script = busy;
    await assert.rejects(client.get(pods, web, { timeoutMs: 1_000 }), { kind: 'exhausted', remoteMessage: 'busy' });
    const many = assert.rejects(client.get(pods, web), { kind: 'exhausted' });
    const before = transport.requests.length;
    await clock.advance(60_000);
    await many;
    assert.equal(transport.requests.length - before, 10);
  });

  test('a 503 without Retry-After is thrown at once', async () => {
    const { client, transport } = setUp(() => answerOf(503, 'down'));
    await assert.rejects(client.get(pods, web), { kind: 'unavailable' });
    assert.equal(transport.requests.length, 1);
  });

  test('with new credentials once after a 401', async () => {
    let token = 'old';
    const credentials = { authorization: async () => `Bearer ${token}`, renew: () => (token = 'new') };
    const { client, transport } = setUp(
      ({ headers }) =>
        headers['authorization'] === 'Bearer new' ? answerOf(200, {}) : status(401, 'Unauthorized', 'no'),
      { credentials },
    );
    await client.create(pods, 'default', {});
    assert.equal(transport.requests.length, 2);
    transport.script = () => status(401, 'Unauthorized', 'no');
    await assert.rejects(client.get(pods, web), { kind: 'denied' });
    assert.equal(transport.requests.length, 4);
  });

  test('a GET without an answer once, a POST never', async () => {
    const broken = new TubeletError('unavailable', 'reset by peer');
    const { client, transport } = setUp((_, count) => (count === 1 ? Promise.reject(broken) : answerOf(200, {})));
    await client.get(pods, web);
    assert.equal(transport.requests.length, 2);
    transport.script = () => Promise.reject(broken);
    await assert.rejects(client.create(pods, 'default', {}), { kind: 'unavailable', cause: broken });
    assert.equal(transport.requests.length, 3);
  });
});

describe('deadlines', () => {
  const silent: Script = () => new Promise(() => {});

  test('end requests without an answer', async () => {
    const { client, clock } = setUp(silent);
    const late = assert.rejects(client.get(pods, web), {
      kind: 'timeout',
      message: 'GET pods default/web: no answer within 60000 ms',
    });
    const vital = assert.rejects(client.get(pods, web, { lane: 'vital' }), { kind: 'timeout', message: /10000 ms/ });
    await clock.advance(60_000);
    await Promise.all([late, vital]);
    assert.equal(clock.pending(), 0);
  });

  test('the caller may give up before', async () => {
    const { client } = setUp(silent);
    const abort = new AbortController();
    const given = assert.rejects(client.get(pods, web, { signal: abort.signal }), { kind: 'cancelled' });
    abort.abort();
    await given;
  });
});

describe('budgets', () => {
  test('vital requests never wait, events and others have their own', async () => {
    const { client, clock, transport } = setUp(() => answerOf(200, {}), {
      limits: { normal: { qps: 1, burst: 2 }, events: { qps: 1, burst: 1 } },
    });
    const seen = () => transport.requests.length;
    for (let count = 0; count < 4; count++) void client.get(pods, web);
    await clock.settle();
    assert.equal(seen(), 2);
    void client.create(events, 'default', {}, { lane: 'events' });
    void client.create(events, 'default', {}, { lane: 'events' });
    await clock.settle();
    assert.equal(seen(), 3);
    for (let count = 0; count < 10; count++) void client.update(leases, web, {}, { lane: 'vital' });
    await clock.settle();
    assert.equal(seen(), 13);
    await clock.advance(1_000);
    assert.equal(seen(), 15);
    await clock.advance(1_000);
    assert.equal(seen(), 16);
  });

  test('a cancelled request leaves its slot to the next', async () => {
    const { client, clock, transport } = setUp(() => answerOf(200, {}), { limits: { normal: { qps: 1, burst: 1 } } });
    const abort = new AbortController();
    await client.get(pods, web);
    const given = assert.rejects(client.get(pods, web, { signal: abort.signal }));
    await clock.settle();
    abort.abort();
    await given;
    void client.get(pods, web);
    await clock.advance(1_000);
    assert.equal(transport.requests.length, 2);
  });

  test('0 means no limit', async () => {
    const { client, clock, transport } = setUp(() => answerOf(200, {}), { limits: { normal: { qps: 0, burst: 0 } } });
    for (let count = 0; count < 500; count++) void client.get(pods, web);
    await clock.settle();
    assert.equal(transport.requests.length, 500);
  });
});

describe('lists', () => {
  const page = (names: readonly string[], more?: string) =>
    answerOf(200, {
      metadata: { resourceVersion: '9', continue: more },
      items: names.map((name) => ({ metadata: { name } })),
    });
  const namesOf = (list: { readonly items: readonly Pod[] }) => list.items.map(({ metadata }) => metadata?.name);
  const query = (path: string) => Object.fromEntries(new URL(path, 'http://x').searchParams);

  test('come page by page, each object with its kind', async () => {
    const { client, transport } = setUp((_, count) => (count === 1 ? page(['a', 'b'], 'more') : page(['c'])));
    const list = await client.list<Pod>(pods, { fieldSelector: 'spec.nodeName=n', resourceVersion: '0' });
    assert.deepEqual(namesOf(list), ['a', 'b', 'c']);
    assert.deepEqual([list.items[0]?.apiVersion, list.items[0]?.kind], ['v1', 'Pod']);
    assert.equal(list.metadata.resourceVersion, '9');
    assert.deepEqual(
      transport.requests.map(({ path }) => query(path)),
      [
        { fieldSelector: 'spec.nodeName=n', limit: '500', resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' },
        { fieldSelector: 'spec.nodeName=n', limit: '500', continue: 'more' },
      ],
    );
  });

  test('start again without pages when the version expires meanwhile', async () => {
    const { client, transport } = setUp(({ path }, count) => {
      if (count === 1) return page(['a'], 'more');
      return path.includes('continue') ? status(410, 'Expired', 'too old') : page(['a', 'b']);
    });
    assert.deepEqual(namesOf(await client.list<Pod>(pods)), ['a', 'b']);
    assert.deepEqual(query(transport.requests.at(-1)!.path), {});
  });

  test('not older than a version come at once', async () => {
    const { client, transport } = setUp(() => page([]));
    await client.list(pods, { resourceVersion: '77' });
    assert.deepEqual(query(transport.requests[0]!.path), {
      resourceVersion: '77',
      resourceVersionMatch: 'NotOlderThan',
    });
  });

  test('may be packed', async () => {
    const text = JSON.stringify({ metadata: {}, items: [{ metadata: { name: 'ä' } }] });
    const { client, transport } = setUp(() => answerOf(200, gzipSync(text), { 'content-encoding': 'gzip' }));
    assert.deepEqual(namesOf(await client.list<Pod>(pods)), ['ä']);
    assert.equal(transport.requests[0]!.headers['accept-encoding'], 'gzip');
    transport.script = () => answerOf(200, gzipSync(text).subarray(0, 20), { 'content-encoding': 'gzip' });
    await assert.rejects(client.list(pods), { kind: 'unavailable' });
  });

  test('without items are empty, and an answer that is not a list is refused', async () => {
    assert.deepEqual((await setUp(() => answerOf(200, { metadata: {}, items: null })).client.list(pods)).items, []);
    await assert.rejects(setUp(() => answerOf(200, { x: 1 })).client.list(pods), /the answer is not a list/);
  });
});

test('lines about requests name the pod that they are about, with the uid where it is sent', async () => {
  const log = new MemoryLog();
  const { client } = setUp(() => answerOf(200, { metadata: {}, items: [] }), { log });
  const pod = { namespace: 'default', name: 'web' };
  await client.get(pods, web);
  await client.delete(pods, web, { uid: 'uid-1' });
  await client.patch(pods, web, { metadata: { uid: 'uid-1' } }, { type: 'strategic', subresource: 'status' });
  await client.create(pods, 'default', { metadata: { name: 'web' } });
  await client.list(pods);
  await client.get(nodes, { name: 'node-1' });
  assert.deepEqual(
    log.entries.map(({ fields }) => [fields['pod'], fields['podUID']]),
    [
      [pod, undefined],
      [pod, 'uid-1'],
      [pod, 'uid-1'],
      [pod, undefined],
      [undefined, undefined],
      [undefined, undefined],
    ],
  );
});

test('every answer is observed, for metrics and in the log', async () => {
  const seen: string[] = [];
  const log = new MemoryLog();
  const { client, transport } = setUp(() => answerOf(200, {}), {
    log,
    seen: {
      answered: ({ method, code, requestBytes }) => seen.push(`${method} ${code} ${requestBytes}`),
      waited: (method, ms) => seen.push(`${method} waited ${ms}`),
      received: (method, bytes) => seen.push(`${method} received ${bytes}`),
      retried: (method, code) => seen.push(`${method} again after ${code}`),
    },
  });
  await client.get(pods, web);
  transport.script = () => Promise.reject(new TubeletError('unavailable', 'x'));
  await assert.rejects(client.create(pods, 'default', {}));
  await assert.rejects(client.get(pods, web, { lane: 'vital' }));
  assert.deepEqual(seen, [
    'GET waited 0',
    'GET 200 0',
    'GET received 2',
    'POST waited 0',
    'POST <error> 2',
    'GET <error> 0',
    'GET again after <error>',
    'GET <error> 0',
  ]);
  assert.deepEqual(
    log.entries.map(({ level, message, fields }) => [level, message, fields['request'], fields['code']]),
    [
      [6, 'API request answered', 'GET pods default/web', '200'],
      [6, 'API request answered', 'POST pods default', '<error>'],
      [6, 'API request answered', 'GET pods default/web', '<error>'],
      [6, 'API request answered', 'GET pods default/web', '<error>'],
    ],
  );
});

test('a request counts as running until it has ended, the wait for the rate limit included', async () => {
  const calls = new MemoryCalls();
  const limits = { normal: { qps: 1, burst: 1 } };
  const { clock, client } = setUp(
    (request) => (request.method === 'GET' ? answerOf(200, { kind: 'X' }) : status(403, 'Forbidden', 'not for you')),
    { calls, limits },
  );
  await client.get(pods, web);
  const second = client.patch(pods, web, { a: 'hunter2' }, { type: 'merge' });
  second.catch(() => {});
  assert.deepEqual(calls.underWay(), ['apiserver PATCH pods default/web']);
  await clock.advance(1_000);
  await assert.rejects(second);
  assert.deepEqual(calls.underWay(), []);
  assert.deepEqual(
    calls.ended.map((end) => end.replace(/(denied).*/, '$1')),
    ['apiserver GET pods default/web: ok', 'apiserver PATCH pods default/web: denied'],
  );
  assert.equal(calls.ended.join().includes('hunter2'), false);
});
