import { closeSync, openSync } from 'node:fs';
import type { CancelTimer, Clock } from '../base/clock.ts';
import { noAnswer, readOpenFile, readPseudoFile, readPseudoFileAs, type FileForm } from './proc-usage-file.ts';
import { openFilesLimit } from './proc-usage-text.ts';

interface KeptFilesOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** How many are kept at most; what comes then is opened each time. */
  readonly most: number;
}

/** Three or four files of each cgroup of a hundred pods. */
const mostFiles = 1_500;
/** Of all descriptors that the process may have; the others are for connections, logs and the rest. */
const share = 1 / 8;
/** A file that nobody has read between two looks is closed: its cgroup is gone, or nobody asks any more. */
const idleMs = 60_000;

/**
 * Pseudo-files that are read again and again, kept open: to open and close one costs three times what reading it does. The
 * kernel tells their contents anew whenever they are read from their beginning. A timer runs only while any is open.
 */
export class KeptFiles {
  readonly #options: KeptFilesOptions;
  readonly #open = new Set<KeptFile>();
  #cancelTimer: CancelTimer | undefined;

  constructor(options: KeptFilesOptions) {
    this.#options = options;
  }

  /** As many as this process can well spare. */
  static open(clock: KeptFilesOptions['clock']): KeptFiles {
    const limit = openFilesLimit(readPseudoFile('/proc/self/limits') ?? '') ?? 0;
    return new KeptFiles({ clock, most: limit < 0 ? mostFiles : Math.min(mostFiles, Math.floor(limit * share)) });
  }

  /** How many are open. */
  get size(): number {
    return this.#open.size;
  }

  /** One that is opened when it is first read. Whoever reads it again and again keeps this, so that nothing is looked up. */
  file(path: string): KeptFile {
    return new KeptFile(path, this);
  }

  /** Whether one more may be kept open. */
  get hasRoom(): boolean {
    return this.#open.size < this.#options.most;
  }

  /** It is open from now on. */
  admit(file: KeptFile): void {
    this.#open.add(file);
    this.#cancelTimer ??= this.#options.clock.after(idleMs, () => this.#sweep());
  }

  /** It is open no more. */
  dismiss(file: KeptFile): void {
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

/** One of them. It opens itself again when somebody reads it after it was closed. */
export class KeptFile {
  readonly #path: string;
  readonly #files: KeptFiles;
  #descriptor: number | undefined;
  /** Since the last sweep. */
  #wasRead = false;

  constructor(path: string, files: KeptFiles) {
    this.#path = path;
    this.#files = files;
  }

  /** What is in the file; undefined where there is none, or none any more. */
  read<T>(form: FileForm<T>): T | undefined {
    this.#wasRead = true;
    if (this.#descriptor === undefined) return this.#readNew(form);
    try {
      return readOpenFile(form, this.#descriptor);
    } catch (error) {
      noAnswer(error, this.#path);
      // What it was is gone; there may be another one of the same name.
      this.close();
      return this.#readNew(form);
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

  #readNew<T>(form: FileForm<T>): T | undefined {
    if (!this.#files.hasRoom) return readPseudoFileAs(form, this.#path);
    try {
      this.#descriptor = openSync(this.#path, 'r');
      this.#files.admit(this);
      return readOpenFile(form, this.#descriptor);
    } catch (error) {
      this.close();
      return noAnswer(error, this.#path);
    }
  }
}
