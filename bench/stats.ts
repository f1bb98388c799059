// What pages of usage cost: processor time per page with 100 pods of two containers, asked for every ten seconds, and the
// longest time for which the event loop stood still meanwhile. Cgroups are plain files, so the kernel's own counting is
// not in it; the runtime's answers are read from bytes.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { systemClock } from '../src/base/system-clock.ts';
import type { Clock } from '../src/base/clock.ts';
import { cadvisorPage, resourcePage } from '../src/stats/pages/index.ts';
import { makeMachine } from './support-stats-machine.ts';
import { median, record } from './support.ts';

const pods = 100;
const containers = 2;
const rounds = 40;
const everyMs = 10_000;

const real = systemClock();
let skippedMs = 0;
const timers = new Set<{ readonly atMs: number; readonly fire: () => void }>();
/** Time passes between two pages without a wait; what was due by then has happened, as the end of a shared answer. */
const clock: Clock = {
  ...real,
  now: () => real.now() + skippedMs,
  monotonic: () => real.monotonic() + skippedMs,
  sleep: (ms, signal) => real.sleep(ms, signal),
  after(ms, callback) {
    const fire = (): void => {
      cancel();
      callback();
    };
    const timer = { atMs: clock.monotonic() + ms, fire };
    const cancelReal = real.after(ms, fire);
    const cancel = (): void => {
      cancelReal();
      timers.delete(timer);
    };
    timers.add(timer);
    return cancel;
  },
};
const { signal } = new AbortController();
const machine = await makeMachine(clock, pods, containers);
const { stats } = machine;

const pages: Readonly<Record<string, () => Promise<string | Uint8Array>>> = {
  '/stats/summary': async () => JSON.stringify(await stats.summary({ onlyCpuAndMemory: false }, signal)),
  '/stats/summary?only_cpu_and_memory=true': async () =>
    JSON.stringify(await stats.summary({ onlyCpuAndMemory: true }, signal)),
  '/metrics/resource': async () => resourcePage(await stats.snapshot(signal, 'core')),
  '/metrics/cadvisor': async () => [...cadvisorPage(await stats.snapshot(signal), stats.machine())].join(''),
};

interface PageCost {
  readonly medianMs: number;
  readonly meanMs: number;
  readonly bytes: number;
  readonly longestPauseMs: number;
}

const result: Record<string, PageCost> = {};
try {
  for (const [path, page] of Object.entries(pages)) {
    const bytes = (await page()).length;
    for (let round = 0; round < 5; round++) await next(page);
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const costs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = process.cpuUsage();
      await next(page);
      const { user, system } = process.cpuUsage(before);
      costs.push((user + system) / 1_000);
    }
    delay.disable();
    const mean = costs.reduce((sum, cost) => sum + cost, 0) / rounds;
    result[path] = { medianMs: median(costs), meanMs: mean, bytes, longestPauseMs: delay.max / 1e6 };
  }
} finally {
  machine.remove();
}

record('stats', { pods, containers, rounds, everyMs, pages: result });
console.log(`${pods} pods of ${containers} containers, every ${everyMs / 1_000} s, ${rounds} times`);
for (const [path, { medianMs, meanMs, bytes, longestPauseMs }] of Object.entries(result)) {
  console.log(
    `  ${path.padEnd(40)} ${medianMs.toFixed(1).padStart(6)} ms of CPU (mean ${meanMs.toFixed(1)}), ${Math.round(bytes / 1024)} kB, ` +
      `longest pause ${longestPauseMs.toFixed(0)} ms`,
  );
}

async function next(page: () => Promise<unknown>): Promise<void> {
  skippedMs += everyMs;
  for (const { atMs, fire } of timers) if (atMs <= clock.monotonic()) fire();
  await page();
}
