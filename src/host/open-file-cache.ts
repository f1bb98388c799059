import { closeSync, openSync } from 'node:fs';
import type { CancelTimer, Clock } from '../base/clock.ts';
import { readOpenFile, readPseudoFile, undefinedIfMissing } from './proc-usage-file.ts';
import { openFilesLimit } from './proc-usage-text.ts';

interface OpenFileCacheOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** How many files are kept open at most; further ones are opened for each reading. */
  readonly maxOpen: number;
}

/** Three or four files of each cgroup of a hundred pods. */
const maxFiles = 1_500;
/** The share of all descriptors that the process may have; connections, logs and the rest need the others. */
const share = 1 / 8;
/** A file that was not read between two sweeps is closed: its cgroup was removed, or its reader has ended. */
const idleMs = 60_000;

/**
 * Pseudo-files that are read again and again, kept open: opening and closing one costs three times as much as reading
 * it. The kernel makes their contents anew for each reading from the beginning. A timer runs only while any is open.
 */
export class OpenFileCache {
  readonly #options: OpenFileCacheOptions;
  readonly #open = new Set<CachedFile>();
  #cancelTimer: CancelTimer | undefined;

  constructor(options: OpenFileCacheOptions) {
    this.#options = options;
  }

  /** As many as this process can spare. */
  static open(clock: OpenFileCacheOptions['clock']): OpenFileCache {
    const limit = openFilesLimit(readPseudoFile('/proc/self/limits') ?? '') ?? 0;
    return new OpenFileCache({ clock, maxOpen: limit < 0 ? maxFiles : Math.min(maxFiles, Math.floor(limit * share)) });
  }

  /** How many are open. */
  get size(): number {
    return this.#open.size;
  }

  /** A file that is opened at its first reading. Repeated readers keep this object, which saves them a lookup. */
  file(path: string): CachedFile {
    return new CachedFile(path, this);
  }

  /** Whether one more may be kept open. */
  get hasRoom(): boolean {
    return this.#open.size < this.#options.maxOpen;
  }

  /** Adds a file that has just been opened. */
  admit(file: CachedFile): void {
    this.#open.add(file);
    this.#cancelTimer ??= this.#options.clock.after(idleMs, () => this.#sweep());
  }

  /** Removes a file that has just been closed. */
  dismiss(file: CachedFile): void {
    this.#open.delete(file);
  }

  close(): void {
    for (const file of this.#open) file.close();
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #sweep(): void {
    for (const file of this.#open) file.closeUnlessRead();
    this.#cancelTimer = this.#open.size === 0 ? undefined : this.#options.clock.after(idleMs, () => this.#sweep());
  }
}

/** One file of the cache. It opens itself again when it is read after it was closed. */
export class CachedFile {
  readonly #path: string;
  readonly #files: OpenFileCache;
  #descriptor: number | undefined;
  /** Since the last sweep. */
  #wasRead = false;

  constructor(path: string, files: OpenFileCache) {
    this.#path = path;
    this.#files = files;
  }

  /** The contents of the file; undefined where there is none, or none any more. */
  read(): string | undefined {
    this.#wasRead = true;
    if (this.#descriptor === undefined) return this.#readNew();
    try {
      return readOpenFile(this.#descriptor);
    } catch (error) {
      undefinedIfMissing(error, this.#path);
      // The open file was removed; another one of the same name may exist.
      this.close();
      return this.#readNew();
    }
  }

  close(): void {
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    this.#files.dismiss(this);
    if (descriptor !== undefined) closeSync(descriptor);
  }

  closeUnlessRead(): void {
    if (!this.#wasRead) this.close();
    this.#wasRead = false;
  }

  #readNew(): string | undefined {
    if (!this.#files.hasRoom) return readPseudoFile(this.#path);
    try {
      this.#descriptor = openSync(this.#path, 'r');
      this.#files.admit(this);
      return readOpenFile(this.#descriptor);
    } catch (error) {
      this.close();
      return undefinedIfMissing(error, this.#path);
    }
  }
}
