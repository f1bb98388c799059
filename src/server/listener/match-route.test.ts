import assert from 'node:assert/strict';
import { test } from 'node:test';
import { text } from '../route.ts';
import { routeTable, type Handlers, type RouteId } from '../route-table.ts';
import { bindRoutes, routeMatcher } from './match-route.ts';
import { parseTarget } from './target.ts';

const ids = Object.keys(routeTable) as RouteId[];
const handlers = Object.fromEntries(ids.map((id) => [id, async () => text(200, id)])) as unknown as Handlers;
const match = routeMatcher(bindRoutes(handlers));

function find(target: string) {
  const parsed = parseTarget(target);
  const found = parsed.kind === 'path' ? match(parsed.segments) : undefined;
  const id = ids.find((one) => routeTable[one].path === found?.spec.path);
  return found === undefined ? undefined : { id, params: found.params };
}

const found: readonly (readonly [target: string, id: RouteId, params?: Readonly<Record<string, string>>])[] = [
  ['/healthz', 'healthz'],
  ['/healthz/ping', 'healthzPing'],
  ['/healthz/device-plugin/', 'healthzDevicePlugin'],
  ['/runningpods/', 'runningPods'],
  ['/runningpods', 'runningPods'],
  ['/exec/ns/pod/c', 'exec', { namespace: 'ns', pod: 'pod', container: 'c' }],
  ['/exec/ns/pod/uid/c', 'execUid', { namespace: 'ns', pod: 'pod', uid: 'uid', container: 'c' }],
  ['/portForward/ns/pod', 'portForward', { namespace: 'ns', pod: 'pod' }],
  ['/portForward/ns/pod/uid?port=1', 'portForwardUid', { namespace: 'ns', pod: 'pod', uid: 'uid' }],
  ['/containerLogs/n%73/p/c', 'containerLogs', { namespace: 'ns', pod: 'p', container: 'c' }],
  ['/logs', 'nodeLogs'],
  ['/logs/', 'nodeLogs'],
  ['/logs/pods/', 'nodeLogFiles', { file: 'pods' }],
  ['/logs/a/b%20c/d.log', 'nodeLogFiles', { file: 'a/b c/d.log' }],
  ['/debug/pprof/', 'profileIndex'],
  ['/debug/pprof/heap', 'profile', { name: 'heap' }],
  ['/debug/flags/v', 'verbosity'],
  ['/metrics', 'metrics'],
  ['/metrics/slis', 'metricsSlis'],
  [
    '/containerLogs/ns/__proto__/constructor',
    'containerLogs',
    {
      namespace: 'ns',
      pod: '__proto__',
      container: 'constructor',
    },
  ],
];
for (const [target, id, params = {}] of found) {
  test(`${target} is ${id}`, () => {
    assert.deepEqual(find(target), { id, params });
  });
}

const strange = [
  '/',
  '/exec',
  '/exec/ns',
  '/exec/ns/pod',
  '/exec/ns//c',
  '/exec/a/b/c/d/e',
  '/Pods',
  '/pods/x',
  '//pods',
];
for (const target of [...strange, '/logs//etc', '/logs/a//b', '/debug', '/debug/pprof/a/b', '/metrics/x', '/run//']) {
  test(`${target} is nothing`, () => {
    assert.equal(find(target), undefined);
  });
}

test('each route is found by a path of its own, and nothing is found twice', () => {
  for (const id of ids) {
    const path = routeTable[id].path.replaceAll(/\{(\w+)(\.\.\.)?\}/g, '$1');
    assert.equal(find(path)?.id, id, path);
  }
});
