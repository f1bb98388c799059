import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from '../telemetry/index.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { clientMetrics } from './client-metrics.ts';

function setUp() {
  const [clock, registry] = [new FakeClock(), new Registry()];
  const shows = (...lines: readonly string[]): void => {
    const page = new Set(registry.render().split('\n'));
    for (const line of lines) assert.ok(page.has(line), `${line} in\n${[...page].join('\n')}`);
  };
  return { clock, shows, ...clientMetrics(registry, 'api:6443', clock) };
}

test('requests are counted and measured by verb and host', () => {
  const { requests, shows } = setUp();
  requests.waited('GET', 250);
  requests.answered({ method: 'GET', code: '200', durationMs: 30, requestBytes: 0 });
  requests.received('GET', 5_000);
  requests.answered({ method: 'POST', code: '<error>', durationMs: 1_000, requestBytes: 300 });
  requests.retried('POST', '<error>');
  shows(
    'rest_client_requests_total{code="200",host="api:6443",method="GET"} 1',
    'rest_client_requests_total{code="<error>",host="api:6443",method="POST"} 1',
    'rest_client_request_duration_seconds_bucket{host="api:6443",verb="GET",le="0.1"} 1',
    'rest_client_request_size_bytes_sum{host="api:6443",verb="POST"} 300',
    'rest_client_response_size_bytes_bucket{host="api:6443",verb="GET",le="16384"} 1',
    'rest_client_rate_limiter_duration_seconds_sum{host="api:6443",verb="GET"} 0.25',
    'rest_client_request_retries_total{code="<error>",host="api:6443",verb="POST"} 1',
  );
});

test('certificates of a plugin are followed', async () => {
  const { clock, plugin, shows } = setUp();
  shows('rest_client_exec_plugin_ttl_seconds +Inf', 'rest_client_exec_plugin_certificate_rotation_age_count 0');
  const first = { notBefore: clock.now() - 60_000, notAfter: clock.now() + 3_600_000 };
  plugin.ran(0, 'no_error');
  plugin.certificate(first);
  plugin.certificate(first);
  await clock.advance(600_000);
  shows('rest_client_exec_plugin_ttl_seconds 3000', 'rest_client_exec_plugin_certificate_rotation_age_count 0');
  plugin.ran(1, 'plugin_not_found_error');
  plugin.certificate({ notBefore: clock.now(), notAfter: clock.now() + 1_000 });
  shows(
    'rest_client_exec_plugin_ttl_seconds 1',
    'rest_client_exec_plugin_certificate_rotation_age_sum 660',
    'rest_client_exec_plugin_call_total{call_status="no_error",code="0"} 1',
    'rest_client_exec_plugin_call_total{call_status="plugin_not_found_error",code="1"} 1',
  );
});
