import type { Clock, CancelTimer } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import { isKind } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { formatCheckpoint, parseCheckpoint } from './checkpoint.ts';

/** The disk as checkpoints need it. */
export interface CheckpointDisk {
  /** Kind `notFound` when there is none. */
  read(path: string): Promise<string>;
  /** A reader, and a machine that loses power, sees the old text or the new, never a part. */
  replace(path: string, text: string): Promise<void>;
  /** Puts an unusable file aside, so that operators can inspect it. */
  putAside(path: string): Promise<void>;
}

interface CheckpointFileDeps<T> {
  readonly clock: Clock;
  readonly log: Log;
  readonly disk: CheckpointDisk;
  readonly path: string;
  readonly version: number;
  /** The contents, read at the time of each write. */
  readonly content: () => T;
}

/** Changes within this time are written together. An agent that is killed loses only changes of that time. */
const gatherMs = 200;
/** A failed write is repeated after this time. */
const retryMs = 10_000;

/**
 * Keeps a document on disk up to date: `changed()` requests a write, which follows soon after and once more at
 * the stop. An unusable file is put aside and never keeps the agent from starting.
 */
export class CheckpointFile<T> implements Component {
  readonly name: string;
  readonly #deps: CheckpointFileDeps<T>;
  #timer: CancelTimer | undefined;
  #writing: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(name: string, deps: CheckpointFileDeps<T>) {
    this.name = name;
    this.#deps = deps;
  }

  /** The document of the previous run; undefined when there is none or it is unusable. */
  async load(): Promise<T | undefined> {
    const { disk, path, version, log } = this.#deps;
    let text: string;
    try {
      text = await disk.read(path);
    } catch (error) {
      if (isKind(error, 'notFound')) return undefined;
      log.error(error, 'Cannot read checkpoint, continuing without', { path });
      return undefined;
    }
    const reading = parseCheckpoint<T>(text, version);
    if (reading.kind === 'read') return reading.content;
    if (reading.kind === 'damaged') {
      log.warn('Checkpoint is damaged, putting it aside and continuing without', { path, err: reading.why });
      await this.#putAside();
    }
    return undefined;
  }

  /** Keeps the file for inspection, if the disk allows it; otherwise the next write replaces it. */
  async #putAside(): Promise<void> {
    const { disk, path, log } = this.#deps;
    try {
      await disk.putAside(path);
    } catch (error) {
      log.error(error, 'Cannot put damaged checkpoint aside, continuing', { path });
    }
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== undefined) this.#write();
    await this.#writing;
  }

  changed(): void {
    this.#timer ??= this.#deps.clock.after(gatherMs, () => this.#write());
  }

  #write(): void {
    this.#timer?.();
    this.#timer = undefined;
    const { disk, path, version, content, log } = this.#deps;
    const text = formatCheckpoint(version, content());
    this.#writing = this.#writing.then(async () => {
      try {
        await disk.replace(path, text);
      } catch (error) {
        log.error(error, 'Cannot write checkpoint', { path });
        if (!this.#stopped) this.#timer ??= this.#deps.clock.after(retryMs, () => this.#write());
      }
    });
  }
}
