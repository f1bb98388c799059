import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from '../../telemetry/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { routeTable } from '../route-table.ts';
import { pathBucket, RequestMetrics, requestLabels } from './request-metrics.ts';

const cases: readonly (readonly [path: string, bucket: string])[] = [
  ['/pods', 'pods'],
  ['/healthz/ping', 'healthz'],
  ['/metrics', 'metrics'],
  ['/metrics/cadvisor', 'metrics/cadvisor'],
  ['/metrics/cadvisor/more', 'metrics/cadvisor'],
  ['/metrics/', 'other'],
  ['/metrics/slis', 'other'],
  ['/metrics/unheard-of', 'other'],
  ['/stats/summary', 'stats'],
  ['/stats', 'stats'],
  ['/exec/a/b/c', 'exec'],
  ['/portForward/a/b', 'portForward'],
  ['/portforward/a/b', 'other'],
  ['/debug/pprof/heap', 'debug'],
  ['/debug/flags/v', 'debug'],
  ['/logs/a/b', 'logs'],
  ['/', 'other'],
  ['/wp-login.php', 'other'],
];
for (const [path, bucket] of cases) {
  test(`${path} counts as ${bucket}`, () => {
    assert.equal(pathBucket(path.split('/').slice(1)), bucket);
  });
}

test('every route but one has a bucket', () => {
  const paths = Object.values(routeTable).map(({ path }) => path);
  const without = paths.filter((path) => pathBucket(path.split('/').slice(1)) === 'other');
  assert.deepEqual(without, ['/metrics/slis']);
});

test('labels of a request', () => {
  assert.deepEqual(requestLabels('secure', 'POST', ['exec', 'a', 'b', 'c']), {
    method: 'POST',
    path: 'exec',
    server_type: 'readwrite',
    long_running: 'true',
  });
  assert.deepEqual(requestLabels('readOnly', 'PATCH', ['portForward']), {
    method: 'other',
    path: 'portForward',
    server_type: 'readonly',
    long_running: 'false',
  });
  assert.equal(requestLabels('healthz', 'GET', ['healthz']), undefined);
});

test('requests are counted, while they last and with their time', async () => {
  const clock = new FakeClock();
  const registry = new Registry();
  const metrics = new RequestMetrics(registry, clock);
  const series = '{long_running="false",method="GET",path="pods",server_type="readonly"}';
  const done = metrics.begin(requestLabels('readOnly', 'GET', ['pods']));
  metrics.begin(undefined)();
  assert.ok(registry.render().includes(`kubelet_http_inflight_requests${series} 1`), registry.render());
  await clock.advance(2_000);
  done();
  const page = registry.render();
  assert.ok(page.includes(`kubelet_http_requests_total${series} 1`));
  assert.ok(page.includes(`kubelet_http_inflight_requests${series} 0`));
  assert.ok(page.includes(`kubelet_http_requests_duration_seconds_sum${series} 2`));
});
