import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import { errnoOf, identityOf, isAlive, signalProcess, type ProcessIdentity } from './process-table.ts';

interface SpawnOptions {
  readonly program: string;
  readonly args: readonly string[];
  /** Receives standard output and standard error. */
  readonly logFile: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Starts a program in a session of its own, so that a Ctrl-C of the terminal does not reach it: this program decides
 * the order of stopping. `exited` resolves when it ends during this program's life.
 */
export async function spawnDetached(options: SpawnOptions): Promise<DetachedProcess> {
  const log = await open(options.logFile, 'a', 0o640);
  try {
    const child = spawn(options.program, [...options.args], {
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      env: { ...process.env, ...options.env },
      cwd: '/',
    });
    const exited = new Promise<ProcessEnd>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    await once(child, 'spawn');
    const identity = child.pid === undefined ? undefined : identityOf(child.pid);
    if (identity === undefined) {
      throw new TubeletError('internal', `${options.program} ended at once: ${await tailOf(options.logFile)}`);
    }
    child.unref();
    return { identity, exited };
  } finally {
    await log.close();
  }
}

export interface DetachedProcess {
  readonly identity: ProcessIdentity;
  readonly exited: Promise<ProcessEnd>;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const pollMs = 20;

/** Asks the process to end, waits, and kills it if it does not. May be called after its end. */
export async function endProcess(identity: ProcessIdentity, clock: Clock, timeoutMs: number): Promise<void> {
  if (signalProcess(identity, 'SIGTERM') && (await waitForEnd([identity], clock, timeoutMs))) return;
  if (signalProcess(identity, 'SIGKILL')) await waitForEnd([identity], clock, timeoutMs);
}

/** Answers whether all of them ended in time. Processes that are not our children can only be polled. */
export async function waitForEnd(
  identities: readonly ProcessIdentity[],
  clock: Clock,
  timeoutMs: number,
): Promise<boolean> {
  const until = clock.monotonic() + timeoutMs;
  while (identities.some(isAlive)) {
    if (clock.monotonic() >= until) return false;
    await clock.sleep(pollMs);
  }
  return true;
}

/** The last lines of a log, for an error message. */
export async function tailOf(path: string, lines = 5): Promise<string> {
  try {
    const text = await readFile(path, 'utf8');
    return text.trim().split('\n').slice(-lines).join('\n');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return '';
    throw error;
  }
}
