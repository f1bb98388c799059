import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { podObject } from '../model/desired-pod.ts';
import { askHttp } from '../testing/http-ask.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { aPod } from '../testing/pods.ts';
import { healthzRoutes, HttpListener, metricsRoute, podsRoute } from './index.ts';
import type { ListenerName } from './route.ts';

/** Which page answers where. A page that is added must be added here. */
const served: Readonly<Record<string, Readonly<Record<ListenerName, number>>>> = {
  '/healthz': { readOnly: 200, healthz: 200 },
  '/healthz/ping': { readOnly: 200, healthz: 200 },
  '/healthz/syncloop': { readOnly: 200, healthz: 200 },
  '/pods': { readOnly: 200, healthz: 404 },
  '/metrics': { readOnly: 200, healthz: 404 },
};
const absent = ['/', '/healthz/log', '/livez', '/readyz', '/runningpods', '/configz', '/exec/a/b/c', '/debug/pprof'];

let problem: string | undefined;
const pod = aPod();
const routes = [
  ...healthzRoutes([
    { name: 'ping', check: () => undefined },
    { name: 'syncloop', check: () => problem },
  ]),
  podsRoute(() => [podObject(pod, { phase: 'Running' })]),
  metricsRoute(() => 'process_start_time_seconds 1\n'),
];

const listeners = new Map<ListenerName, HttpListener>();
const log = new MemoryLog();
const ask = (listener: ListenerName, path: string, method?: string) =>
  askHttp(listeners.get(listener)?.port ?? 0, path, method);

before(async () => {
  for (const listener of ['readOnly', 'healthz'] as const) {
    const server = new HttpListener({ listener, address: '127.0.0.1', port: 0, routes, log });
    await server.start();
    listeners.set(listener, server);
  }
});
after(async () => {
  for (const server of listeners.values()) await server.stop();
});

describe('every page on every listener', () => {
  test('the list is complete', () => {
    assert.deepEqual(routes.map(({ path }) => path).toSorted(), Object.keys(served).toSorted());
  });

  for (const listener of ['readOnly', 'healthz'] as const) {
    for (const [path, expected] of Object.entries(served)) {
      test(`${listener} ${path}: ${expected[listener]}`, async () => {
        const full = await ask(listener, path);
        assert.equal(full.status, expected[listener]);
        const head = await ask(listener, path, 'HEAD');
        assert.deepEqual([head.status, head.body], [full.status, '']);
        assert.equal(head.headers['content-length'], full.headers['content-length']);
        assert.equal((await ask(listener, path, 'POST')).status, expected[listener] === 404 ? 404 : 405);
      });
    }
    test(`${listener} has nothing else`, async () => {
      for (const path of absent) assert.equal((await ask(listener, path)).status, 404, path);
    });
  }
});

describe('/healthz', () => {
  test('ok, verbose, exclude', async () => {
    assert.equal((await ask('healthz', '/healthz')).body, 'ok');
    assert.equal((await ask('healthz', '/healthz?verbose')).body, '[+]ping ok\n[+]syncloop ok\nhealthz check passed\n');
    assert.equal(
      (await ask('healthz', '/healthz?verbose=true&exclude=ping&exclude=syncloop')).body,
      '[+]ping excluded: ok\n[+]syncloop excluded: ok\nhealthz check passed\n',
    );
    assert.equal((await ask('readOnly', '/healthz/ping?verbose')).body, '[+]ping ok\nhealthz check passed\n');
  });

  test('a check that fails', async () => {
    problem = 'no round for 301 s';
    log.clear();
    const all = await ask('healthz', '/healthz');
    assert.equal(all.status, 500);
    assert.equal(all.body, '[+]ping ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n');
    assert.equal((await ask('healthz', '/healthz/syncloop')).status, 500);
    assert.equal((await ask('healthz', '/healthz/ping')).status, 200);
    assert.equal((await ask('healthz', '/healthz?exclude=syncloop')).body, 'ok');
    problem = undefined;
    assert.equal((await ask('healthz', '/healthz')).body, 'ok');
    assert.deepEqual(
      log.entries.map(({ fields }) => fields),
      [
        { path: '/healthz', problem: 'syncloop: no round for 301 s' },
        { path: '/healthz/syncloop', problem: 'syncloop: no round for 301 s' },
      ],
    );
  });
});

test('/pods is a list of API objects with the status the agent sees', async () => {
  const { headers, body } = await ask('readOnly', '/pods');
  assert.equal(headers['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(body), {
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: {},
    items: [{ kind: 'Pod', apiVersion: 'v1', metadata: pod.metadata, spec: pod.spec, status: { phase: 'Running' } }],
  });
});

test('/metrics is the text that Prometheus reads', async () => {
  const { headers, body } = await ask('readOnly', '/metrics');
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  assert.equal(body, 'process_start_time_seconds 1\n');
});
