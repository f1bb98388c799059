import { basename, dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { PodFields } from '../../model/pod-log.ts';
import type { BodySink } from '../route.ts';
import type { FolderWatches } from './folder-watches.ts';
import type { LogPipe } from './log-pipe.ts';
import type { LogTrail } from './log-trail.ts';
import { blockBytes, type ReadBuffers } from './read-buffers.ts';
import type { RunningCheck } from './running-checks.ts';

interface LogFollowerDeps {
  readonly clock: Clock;
  readonly buffers: ReadBuffers;
  readonly watches: FolderWatches;
  readonly running: RunningCheck;
  /** Hints that come within this time count as one: a log that is written line by line is read many at a time. */
  readonly restMs: () => number;
  /** The current file of the log. */
  readonly path: string;
  /** Whose log it is. */
  readonly named: PodFields;
  readonly trail: LogTrail;
  readonly pipe: LogPipe;
  readonly sink: BodySink;
  readonly signal: AbortSignal;
}

/** How long a silent log is left alone. */
const checkMs = 1_000;

/**
 * Passes on what is written to a log until its container has ended, or the client has enough or closes.
 *
 *   read to the end ──> find another file ──────> silent for a second: does it run? ──no──> read the rest, end
 *         ^                                                 │
 *         └───────────── hint or the second is over ────────┘
 */
export class LogFollower {
  readonly #deps: LogFollowerDeps;
  readonly #name: string;
  readonly #rotatedPrefix: string;
  /** The file was written to since the last round; a follower that pauses reads again after its rest. */
  #hinted = false;
  #mayHaveMoved = true;
  #onHint: (() => void) | undefined;
  #lastRoundAt = Number.NEGATIVE_INFINITY;
  /** When to ask whether the container runs, if nothing comes until then. */
  #checkAt = Number.NEGATIVE_INFINITY;

  constructor(deps: LogFollowerDeps) {
    this.#deps = deps;
    this.#name = basename(deps.path);
    this.#rotatedPrefix = `${this.#name}.`;
  }

  async run(): Promise<void> {
    const { path, named, watches } = this.#deps;
    const unwatch = watches.watch(dirname(path), named, (name) => this.#hint(name));
    try {
      await this.#follow();
    } finally {
      unwatch();
    }
  }

  async #follow(): Promise<void> {
    const { clock, pipe, running, signal, trail } = this.#deps;
    let readFirst = true;
    let ended = false;
    /** The file seemed to have grown, and yet nothing came of it: once is a race, twice is not to be waited for. */
    let inVain = false;
    for (;;) {
      this.#lastRoundAt = clock.monotonic();
      const mayHaveMoved = this.#mayHaveMoved;
      this.#mayHaveMoved = false;
      const spoke = readFirst && (await this.#read());
      readFirst = true;
      if (pipe.done) return;
      if (spoke) inVain = false;
      if (!spoke || mayHaveMoved || ended) {
        const step = await trail.step(async () => void (await this.#read()));
        // What the old file leaves unfinished stays so: the new one begins with a new line.
        if (step === 'moved' || step === 'truncated') await this.#write(pipe.endOfFile());
        if (step !== 'here' && !(step === 'more' && inVain)) {
          inVain = step === 'more';
          // Perhaps this file was rotated meanwhile, too.
          if (step === 'moved') this.#mayHaveMoved = true;
          continue;
        }
        if (ended) {
          await this.#write(pipe.endOfFile());
          return;
        }
        if (clock.monotonic() >= this.#checkAt) {
          ended = !(await running.isRunning(signal));
          this.#checkAt = clock.monotonic() + checkMs;
          if (ended) continue;
        }
      }
      // A container that writes runs.
      if (spoke) this.#checkAt = clock.monotonic() + checkMs;
      readFirst = await this.#pause();
    }
  }

  /** Reads to the end of the file; answers whether there was anything. */
  async #read(): Promise<boolean> {
    const { buffers, pipe, signal, trail } = this.#deps;
    let spoke = false;
    while (!pipe.done) {
      let pieces: readonly Buffer[] = [];
      const use = (chunk: Buffer): void => void (pieces = pipe.feed(chunk));
      const bytes = await buffers.read(trail.file, trail.position, blockBytes, use, signal);
      trail.position += bytes;
      spoke ||= bytes > 0;
      await this.#write(pieces);
      if (bytes < blockBytes) break;
    }
    return spoke;
  }

  async #write(pieces: readonly Buffer[]): Promise<void> {
    for (const piece of pieces) await this.#deps.sink.write(piece);
  }

  #hint(name: string | undefined): void {
    if (name !== this.#name) {
      if (name !== undefined && !name.startsWith(this.#rotatedPrefix)) return;
      this.#mayHaveMoved = true;
    }
    // One hint per line that is written, for each follower: only the first of a rest has anything to do.
    if (this.#hinted) return;
    this.#hinted = true;
    this.#onHint?.();
  }

  /** Until there is a hint or it is time to check; answers whether there was a hint. */
  #pause(): Promise<boolean> {
    const { clock, restMs, signal } = this.#deps;
    return new Promise((resolve, reject) => {
      let cancelTimer = (): void => {};
      const arm = (): void => {
        cancelTimer();
        const due = this.#hinted ? Math.min(this.#checkAt, this.#lastRoundAt + restMs()) : this.#checkAt;
        const wait = due - clock.monotonic();
        if (wait > 0) cancelTimer = clock.after(wait, () => finish());
        else finish();
      };
      const finish = (): void => {
        release();
        const hinted = this.#hinted;
        this.#hinted = false;
        resolve(hinted);
      };
      const onAbort = (): void => {
        release();
        reject(signal.reason);
      };
      const release = (): void => {
        cancelTimer();
        this.#onHint = undefined;
        signal.removeEventListener('abort', onAbort);
      };
      if (signal.aborted) {
        onAbort();
        return;
      }
      signal.addEventListener('abort', onAbort, { once: true });
      this.#onHint = arm;
      arm();
    });
  }
}
