import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { silentLog } from '../src/base/log.ts';
import { systemClock } from '../src/base/system-clock.ts';
import { volumeHost } from '../src/host/index.ts';
import { startPrivateRuntime, type PrivateRuntime } from '../src/testing/private-runtime.ts';

/** A private runtime and an agent on it, for measuring. */
export interface BenchNode {
  readonly runtime: PrivateRuntime;
  readonly agent: ChildProcess;
  readonly manifests: string;
  readonly staging: string;
  readonly podsUrl: string;
  readonly logFile: string;
  readonly loopFile: string;
  destroy(): Promise<void>;
}

const clock = systemClock();

interface BenchNodeOptions {
  readonly verbosity: number;
  /** Fields of the KubeletConfiguration, over those that are set here. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Notes of each late beat of the event loop why it was late. */
  readonly watchLoop?: boolean;
}

export async function startBenchNode(options: BenchNodeOptions): Promise<BenchNode> {
  const folder = mkdtempSync('/var/tmp/tubelet-bench-');
  const runtime = await startPrivateRuntime({ root: join(folder, 'runtime'), log: silentLog, clock });
  const manifests = join(folder, 'manifests');
  // The same file system as the manifests, so that a rename is one step.
  const staging = join(folder, 'staging');
  for (const path of [manifests, staging]) mkdirSync(path);
  const [healthzPort, readOnlyPort] = [await freePort(), await freePort()];
  const config = join(folder, 'kubelet.json');
  writeFileSync(
    config,
    JSON.stringify({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      staticPodPath: manifests,
      containerRuntimeEndpoint: runtime.endpoint,
      cgroupRoot: runtime.cgroupRoot,
      podLogsDir: join(folder, 'pod-logs'),
      address: '127.0.0.1',
      healthzPort,
      readOnlyPort,
      authentication: { webhook: { enabled: false }, anonymous: { enabled: true } },
      authorization: { mode: 'AlwaysAllow' },
      logging: { format: 'json', verbosity: options.verbosity },
      failSwapOn: false,
      makeIPTablesUtilChains: false,
      ...options.config,
    }),
  );
  const logFile = join(folder, 'agent.log');
  const loopFile = join(folder, 'loop.jsonl');
  const loopWatch = {
    NODE_OPTIONS: `--import=${resolve('bench/support-loop-watch.mjs')}`,
    TUBELET_LOOP_WATCH: loopFile,
  };
  const agent = spawn('bin/tubelet', [`--config=${config}`, `--root-dir=${join(folder, 'kubelet')}`], {
    stdio: ['ignore', 'ignore', openSync(logFile, 'a')],
    env: { ...process.env, TUBELET_KERNEL_TUNABLES: 'keep', ...(options.watchLoop === true && loopWatch) },
  });
  await until(async () => (await fetch(`http://127.0.0.1:${healthzPort}/healthz`)).ok);
  const podsUrl = `http://127.0.0.1:${readOnlyPort}/pods`;
  const destroy = async (): Promise<void> => {
    agent.kill('SIGTERM');
    await new Promise((resolve) => void agent.once('exit', resolve));
    await runtime.destroy();
    // The root directory is mounted onto itself where the machine's mounts are private.
    await volumeHost.mounts.release(folder);
    rmSync(folder, { recursive: true, force: true });
  };
  return { runtime, agent, manifests, staging, podsUrl, logFile, loopFile, destroy };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}

/** Waits until the condition holds; an error counts as "not yet". */
export async function until(condition: () => Promise<boolean>, limitMs = 60_000): Promise<void> {
  const deadline = clock.monotonic() + limitMs;
  let last: unknown;
  while (clock.monotonic() < deadline) {
    try {
      if (await condition()) return;
    } catch (error) {
      last = error;
    }
    await clock.sleep(20);
  }
  throw new Error(`it did not come true within ${limitMs} ms`, { cause: last });
}

export interface LogLine {
  /** Wall time in milliseconds with a fraction. */
  readonly ts: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export function readLog(path: string): readonly LogLine[] {
  return parseLog(readFileSync(path, 'utf8'));
}

/** Lines of a log in JSON; others are none of the agent's. */
export function parseLog(text: string): readonly LogLine[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value that this share of the values stays below. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
}

export function record(name: string, result: unknown): void {
  mkdirSync('bench/results', { recursive: true });
  writeFileSync(`bench/results/${name}.json`, `${JSON.stringify(result, null, 2)}\n`);
}
