import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allOn } from '../../testing/server-world.ts';
import type { ListenerName, RouteSpec } from '../route.ts';
import { routeTable } from '../route-table.ts';
import { unavailable, wrongMethod, type SwitchStates } from './availability.ts';
import { routeMatcher } from './match-route.ts';

const match = routeMatcher(Object.values(routeTable).map((spec) => ({ spec, handler: () => assert.fail() })));

function answer(path: string, listener: ListenerName, states: Partial<SwitchStates> = {}): string {
  const segments = path.split('/').slice(1);
  const page = unavailable(segments, match(segments)?.spec, listener, { ...allOn, ...states });
  return page === undefined ? 'served' : `${page.status} ${String(page.body).trim()}`;
}

const debugOff = '405 Debug endpoints are disabled.';
const absent = '404 404 page not found';
const off = { debugging: false };

const cases: readonly (readonly [
  path: string,
  listener: ListenerName,
  states: Partial<SwitchStates>,
  answer: string,
])[] = [
  ['/pods', 'secure', {}, 'served'],
  ['/pods', 'secure', off, 'served'],
  ['/pods', 'readOnly', {}, 'served'],
  ['/pods', 'healthz', {}, absent],
  ['/healthz/ping', 'healthz', {}, 'served'],
  ['/healthz/log', 'healthz', {}, absent],
  ['/exec/a/b/c', 'healthz', {}, absent],
  ['/nothing', 'secure', {}, absent],
  ['/nothing', 'readOnly', {}, absent],
  ...['/run/a/b/c', '/exec/a/b/c', '/attach/a/b/c', '/portForward/a/b', '/containerLogs/a/b/c'].flatMap(
    (path) =>
      [
        [path, 'secure', {}, 'served'],
        [path, 'secure', off, debugOff],
        [path, 'readOnly', {}, debugOff],
      ] as const,
  ),
  // Whatever there is below them: the answer does not say.
  ['/exec', 'secure', off, debugOff],
  ['/exec/a', 'secure', off, debugOff],
  ['/exec/a', 'secure', {}, absent],
  ['/executive', 'secure', off, absent],
  ['/runningpods', 'secure', off, debugOff],
  ['/runningpods', 'readOnly', off, debugOff],
  ['/runningpods', 'secure', {}, 'served'],
  ['/debug/pprof', 'secure', off, debugOff],
  ['/debug/pprof/heap', 'secure', { ...off, profiling: false }, debugOff],
  ['/debug/pprof/heap', 'secure', { profiling: false }, '405 profiling endpoint is disabled.'],
  ['/debug/pprof/a/b', 'secure', { profiling: false }, '405 profiling endpoint is disabled.'],
  ['/debug', 'secure', { profiling: false }, absent],
  ['/logs', 'secure', off, debugOff],
  ['/logs/a/b', 'secure', { systemLogs: false }, '405 logs endpoint is disabled.'],
  ['/logs', 'readOnly', { systemLogs: false }, debugOff],
  ['/debug/flags/v', 'secure', { debugFlags: false }, '405 flags endpoint is disabled.'],
  ['/debug/flags/v', 'secure', { ...off, debugFlags: false }, absent],
  ['/debug/flags/v', 'secure', off, absent],
  ['/debug/flags/v', 'readOnly', {}, absent],
  ['/configz', 'secure', off, absent],
  ['/configz', 'readOnly', {}, absent],
  ['/checkpoint/a/b/c', 'secure', off, absent],
  ['/checkpoint/a/b/c', 'secure', { checkpoint: false }, absent],
  ['/checkpoint/a/b/c', 'secure', {}, 'served'],
  ['/statusz', 'secure', { statusz: false }, absent],
  ['/flagz', 'secure', { flagz: false }, absent],
  ['/flagz', 'secure', {}, 'served'],
  ['/spec', 'readOnly', {}, absent],
];
for (const [path, listener, states, wanted] of cases) {
  test(`${path} on ${listener} with ${JSON.stringify(states)}: ${wanted}`, () => {
    assert.equal(answer(path, listener, states), wanted);
  });
}

test('another method is answered with those there are', () => {
  const spec: RouteSpec = routeTable.exec;
  assert.equal(wrongMethod(spec, 'GET'), undefined);
  assert.equal(wrongMethod(spec, 'POST'), undefined);
  for (const method of ['HEAD', 'PUT', 'get', '']) {
    assert.deepEqual(wrongMethod(spec, method)?.headers, { allow: 'GET, POST' });
    assert.equal(wrongMethod(spec, method)?.status, 405);
  }
});
