import { readdirSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { Metrics } from '../base/metrics.ts';

/** The process as the kernel shows it: pseudo-files, which are read without waiting for a disk. */
interface ProcessFiles {
  read(path: string): string;
  /** How many entries a folder has. */
  count(path: string): number;
}

const ownFiles: ProcessFiles = {
  read: (path) => readFileSync(path, 'utf8'),
  count: (path) => readdirSync(path).length,
};

const unlimited = 2 ** 64;

/** How this process fares, in the words every program with a Prometheus page uses. */
export function processMetrics(metrics: Metrics, files: ProcessFiles = ownFiles): void {
  const one = (type: 'counter' | 'gauge', name: string, help: string, read: () => number): void =>
    metrics.observed({ name, help, type }, () => [{ labels: {}, value: read() }]);
  one('counter', 'process_cpu_seconds_total', 'CPU time that the agent has used, in seconds.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  one('gauge', 'process_resident_memory_bytes', 'Memory of the agent that is in RAM.', () => process.memoryUsage.rss());
  one('gauge', 'process_virtual_memory_bytes', 'Addresses that the agent has taken.', () =>
    virtualBytes(files.read('/proc/self/stat')),
  );
  one('gauge', 'process_virtual_memory_max_bytes', 'Addresses that the agent may take.', () =>
    softLimit(files.read('/proc/self/limits'), 'Max address space'),
  );
  one('gauge', 'process_open_fds', 'File descriptors that the agent has open.', () => files.count('/proc/self/fd'));
  one('gauge', 'process_max_fds', 'File descriptors that the agent may have open.', () =>
    softLimit(files.read('/proc/self/limits'), 'Max open files'),
  );
  const network = 'in the network namespace of the agent, over all its interfaces.';
  one('counter', 'process_network_receive_bytes_total', `Bytes received ${network}`, () =>
    networkBytes(files.read('/proc/self/net/dev'), 'received'),
  );
  one('counter', 'process_network_transmit_bytes_total', `Bytes sent ${network}`, () =>
    networkBytes(files.read('/proc/self/net/dev'), 'sent'),
  );
  startTimeMetric(metrics);
}

/** Every metrics page says since when it counts. */
export function startTimeMetric(metrics: Metrics): void {
  const value = Math.round(performance.timeOrigin / 10) / 100;
  metrics.observed(
    { name: 'process_start_time_seconds', help: 'When the agent was started, in Unix time.', type: 'gauge' },
    () => [{ labels: {}, value }],
  );
}

/** Of /proc/self/stat: the name of the process, in brackets, may hold anything. */
export function virtualBytes(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[20]);
}

/** Of /proc/self/limits. */
export function softLimit(limits: string, name: string): number {
  const line = limits.split('\n').find((candidate) => candidate.startsWith(name)) ?? '';
  const [soft = ''] = line.slice(name.length).trim().split(/\s+/);
  return soft === 'unlimited' ? unlimited : Number(soft);
}

/** Of /proc/self/net/dev: two lines of headings, then one for each interface. */
export function networkBytes(devices: string, way: 'received' | 'sent'): number {
  const column = way === 'received' ? 0 : 8;
  return devices
    .split('\n')
    .slice(2)
    .flatMap((line) => line.split(':')[1] ?? [])
    .reduce((sum, figures) => sum + Number(figures.trim().split(/\s+/)[column]), 0);
}
