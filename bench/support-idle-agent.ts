import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Heartbeats } from '../src/base/heartbeats.ts';
import type { Clock } from '../src/base/clock.ts';
import { silentLog } from '../src/base/log.ts';
import { sleepBy } from '../src/base/sleep.ts';
import { systemClock } from '../src/base/system-clock.ts';
import { loadSettings } from '../src/config/index.ts';
import { realPlatform } from '../src/main/agent/real-platform.ts';
import { startAgent } from '../src/main/agent/start-agent.ts';

/** An agent as it sees itself. */
export interface Sight {
  readonly running: number;
  readonly rssKb: number;
  readonly heapKb: number;
  readonly cpuMs: number;
  /** Armed through the agent's clock. */
  readonly clockTimers: number;
  /** Armed in this process by anybody, the gRPC library say. */
  readonly nodeTimers: number;
}

export type Question = 'look' | 'collect and look';

/** The process of an agent: tells what it sees of itself when it is asked, and ends with its parent's interest. */
export async function beAgent(folder: string): Promise<void> {
  const loaded = loadSettings({
    argv: [`--config=${join(folder, 'kubelet.json')}`, `--root-dir=${join(folder, 'kubelet')}`],
    version: '0.0.0',
    cwd: process.cwd(),
    readFile: (path) => readFileSync(path, 'utf8'),
    listDir: () => [],
  });
  if (loaded.kind !== 'run') throw new Error(`the agent cannot run: ${JSON.stringify(loaded)}`);
  const armed = { timers: 0 };
  const platform = realPlatform({
    settings: loaded.settings,
    nodeName: 'bench',
    clock: countingClock(systemClock(), armed),
    log: { ...silentLog, setVerbosity() {}, verbosity: () => 0, problem: () => undefined, flush() {} },
    env: { TUBELET_KERNEL_TUNABLES: 'keep' },
  });
  const identity = {
    nodeName: 'bench',
    heartbeats: new Heartbeats(),
    countUnexpected() {},
    lastRun: undefined,
    onServing: async () => {},
  };
  const agent = await startAgent(loaded.settings, platform, identity, new AbortController().signal);
  const answer = async (question: Question): Promise<void> => {
    if (question === 'collect and look') await collect();
    const running = agent.pods().filter(({ status }) => status?.phase === 'Running').length;
    process.send?.({ ...sightOfSelf(armed.timers), running });
  };
  process.on('message', (question: Question) => void answer(question));
  process.once('disconnect', () => void agent.stop().finally(() => process.exit(0)));
}

/** Collects garbage; other threads give the memory back a little later. */
async function collect(): Promise<void> {
  for (let round = 0; round < 2; round++) {
    globalThis.gc?.();
    await systemClock().sleep(1_000);
  }
}

function sightOfSelf(clockTimers: number): Omit<Sight, 'running'> {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const nodeTimers = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  return { rssKb: rss / 1_024, heapKb: heapUsed / 1_024, cpuMs: (user + system) / 1_000, clockTimers, nodeTimers };
}

/** Keeps count of the timers that are armed. */
function countingClock(real: Clock, armed: { timers: number }): Clock {
  const after: Clock['after'] = (ms, callback) => {
    armed.timers++;
    let isArmed = true;
    const disarm = (): void => {
      if (isArmed) armed.timers--;
      isArmed = false;
    };
    const cancel = real.after(ms, () => {
      disarm();
      callback();
    });
    return () => {
      disarm();
      cancel();
    };
  };
  return { ...real, after, sleep: (ms, signal) => sleepBy(after, ms, signal) };
}
