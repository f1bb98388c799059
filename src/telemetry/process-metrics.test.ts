import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkBytes, processMetrics, softLimit, startTimeMetric, virtualBytes } from './process-metrics.ts';
import { Registry } from './registry.ts';

const stat =
  '4242 (no) de (x) S 1 4242 4242 0 -1 4194560 9000 0 1 0 50 20 0 0 20 0 11 0 123456 987654321 2345 ' +
  '18446744073709551615 1 1 0 0 0 0 0 4096 17442 0 0 0 17 1 0 0 0 0 0';
const limits = `Limit                     Soft Limit           Hard Limit           Units
Max open files            1024                 524288               files
Max address space         unlimited            unlimited            bytes
`;
const devices = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:    1000      10    0    0    0     0          0         0     1000      10    0    0    0     0       0          0
  eth0:2000000000   20    0    0    0     0          0         0     3000      30    0    0    0     0       0          0
`;

test('the files of the kernel are read as they are written', () => {
  assert.equal(virtualBytes(stat), 987_654_321);
  assert.equal(softLimit(limits, 'Max open files'), 1_024);
  assert.equal(softLimit(limits, 'Max address space'), 2 ** 64);
  assert.equal(networkBytes(devices, 'received'), 2_000_001_000);
  assert.equal(networkBytes(devices, 'sent'), 4_000);
});

test('the page shows them', () => {
  const registry = new Registry();
  const texts: Readonly<Record<string, string>> = {
    '/proc/self/stat': stat,
    '/proc/self/limits': limits,
    '/proc/self/net/dev': devices,
  };
  processMetrics(registry, { read: (path) => texts[path] ?? assert.fail(path), count: () => 17 });
  const lines = registry.render().split('\n');
  for (const line of [
    'process_open_fds 17',
    'process_max_fds 1024',
    'process_virtual_memory_bytes 9.87654321e+08',
    'process_virtual_memory_max_bytes 1.8446744073709552e+19',
    'process_network_receive_bytes_total 2.000001e+09',
    'process_network_transmit_bytes_total 4000',
    '# TYPE process_cpu_seconds_total counter',
  ]) {
    assert.ok(lines.includes(line), line);
  }
});

test('this very process has metrics too', { skip: process.platform !== 'linux' }, () => {
  const registry = new Registry();
  processMetrics(registry);
  for (const line of registry.render().split('\n')) {
    if (line === '' || line.startsWith('#') || line.startsWith('process_network')) continue;
    assert.ok(Number(line.split(' ')[1]) > 0, line);
  }
});

test('the start of the process is in Unix time', () => {
  const registry = new Registry();
  startTimeMetric(registry);
  const [, text = ''] = /^process_start_time_seconds (.*)$/m.exec(registry.render()) ?? [];
  const age = Date.now() / 1_000 - Number(text);
  assert.ok(age > 0 && age < 3_600, `${age} s`);
});
