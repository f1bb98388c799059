import { open } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import type { AgentCommand } from './agent-supervisor.ts';
import { endProcess, spawnDetached } from './detached-process.ts';
import { isAlive } from './process-table.ts';

interface BackgroundDeps {
  readonly clock: Clock;
  readonly write: (text: string) => void;
}

const pollMs = 100;
const readyTimeoutMs = 180_000;
const stopTimeoutMs = 60_000;

/**
 * Starts a program in the background and prints its log until a line equals `until`. Throws when the program
 * ends before, when it takes too long, and when the signal aborts, which ends the program too.
 */
export async function startInBackground(
  command: AgentCommand,
  logFile: string,
  until: string,
  deps: BackgroundDeps,
  signal: AbortSignal,
): Promise<void> {
  // Opened first: a program that fails removes its log with everything else.
  const log = await open(logFile, 'a+', 0o640);
  try {
    const start = (await log.stat()).size;
    const { identity } = await spawnDetached({ ...command, logFile });
    const deadline = deps.clock.monotonic() + readyTimeoutMs;
    const follow = new LineFollower(
      async (buffer, position) => (await log.read(buffer, 0, buffer.length, position)).bytesRead,
      start,
    );
    for (;;) {
      // Asked before reading, so that the last lines of a program that ends are read too.
      const alive = isAlive(identity);
      for (const line of await follow.lines()) {
        deps.write(`${line}\n`);
        if (line === until) return;
      }
      if (!alive) throw new TubeletError('unavailable', 'tubelet ended before it was ready');
      if (signal.aborted) {
        await endProcess(identity, deps.clock, stopTimeoutMs);
        throw new TubeletError('cancelled', 'stopped');
      }
      if (deps.clock.monotonic() > deadline) {
        throw new TubeletError(
          'timeout',
          `not ready after ${readyTimeoutMs / 1000} s; it keeps running, see ${logFile}`,
        );
      }
      await deps.clock.sleep(pollMs);
    }
  } finally {
    await log.close();
  }
}

type ReadAt = (buffer: Buffer, position: number) => Promise<number>;

/** Whole lines of a growing file. */
export class LineFollower {
  readonly #readAt: ReadAt;
  readonly #decoder = new StringDecoder('utf8');
  #position: number;
  #rest = '';

  constructor(readAt: ReadAt, position: number) {
    this.#readAt = readAt;
    this.#position = position;
  }

  /** The lines that were finished since the last call. */
  async lines(): Promise<readonly string[]> {
    const buffer = Buffer.alloc(64 * 1024);
    for (;;) {
      const count = await this.#readAt(buffer, this.#position);
      if (count === 0) break;
      this.#position += count;
      this.#rest += this.#decoder.write(buffer.subarray(0, count));
    }
    const lines = this.#rest.split('\n');
    this.#rest = lines.pop() ?? '';
    return lines;
  }
}
