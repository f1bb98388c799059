import { closeSync, openSync } from 'node:fs';
import type { CancelTimer, Clock } from '../base/clock.ts';
import { noAnswer, readPseudoFile, textOf, told } from './proc-usage-file.ts';
import { openFilesLimit } from './proc-usage-text.ts';

export interface KeptFilesOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  /** How many are kept at most; what comes then is opened each time. */
  readonly most: number;
}

interface KeptFile {
  readonly descriptor: number;
  readAtMs: number;
}

/** Three or four files of each cgroup of a hundred pods. */
const mostFiles = 1_500;
/** Of all descriptors that the process may have; the others are for connections, logs and the rest. */
const share = 1 / 8;
/** A file that nobody has read for this long is closed: its cgroup is gone, or nobody asks any more. */
const idleMs = 60_000;

/**
 * Pseudo-files that are read again and again, kept open: to open and close one costs three times what reading it does. The
 * kernel tells their contents anew whenever they are read from their beginning. A timer runs only while any is open.
 */
export class KeptFiles {
  readonly #options: KeptFilesOptions;
  readonly #files = new Map<string, KeptFile>();
  #cancelTimer: CancelTimer | undefined;

  constructor(options: KeptFilesOptions) {
    this.#options = options;
  }

  /** As many as this process can well spare. */
  static open(clock: KeptFilesOptions['clock']): KeptFiles {
    const limit = openFilesLimit(readPseudoFile('/proc/self/limits') ?? '') ?? 0;
    return new KeptFiles({ clock, most: limit < 0 ? mostFiles : Math.min(mostFiles, Math.floor(limit * share)) });
  }

  get size(): number {
    return this.#files.size;
  }

  /** The text of the file; undefined where there is none, or none any more. */
  read(path: string): string | undefined {
    const kept = this.#files.get(path);
    if (kept === undefined) return this.#readNew(path);
    const text = textOrNothing(kept.descriptor, path);
    if (text === undefined) {
      // What it was is gone; there may be another one of the same name.
      this.#forget(path, kept);
      return this.#readNew(path);
    }
    kept.readAtMs = this.#options.clock.monotonic();
    return text;
  }

  close(): void {
    for (const [path, kept] of this.#files) this.#forget(path, kept);
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #readNew(path: string): string | undefined {
    if (this.#files.size >= this.#options.most) return readPseudoFile(path);
    const descriptor = told(() => openSync(path, 'r'), path);
    if (descriptor === undefined) return undefined;
    const kept = { descriptor, readAtMs: this.#options.clock.monotonic() };
    this.#files.set(path, kept);
    this.#cancelTimer ??= this.#options.clock.after(idleMs, () => this.#sweep());
    const text = textOrNothing(descriptor, path);
    if (text === undefined) this.#forget(path, kept);
    return text;
  }

  #sweep(): void {
    const { clock } = this.#options;
    const sinceMs = clock.monotonic() - idleMs;
    for (const [path, kept] of this.#files) if (kept.readAtMs <= sinceMs) this.#forget(path, kept);
    this.#cancelTimer = this.#files.size === 0 ? undefined : clock.after(idleMs, () => this.#sweep());
  }

  #forget(path: string, { descriptor }: KeptFile): void {
    this.#files.delete(path);
    closeSync(descriptor);
  }
}

function textOrNothing(descriptor: number, path: string): string | undefined {
  try {
    return textOf(descriptor);
  } catch (error) {
    return noAnswer(error, path);
  }
}
