import { isKind } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { classifyLastRun, parseFatalError, parseMarker, type LastRun, type RunMarker } from './last-run.ts';

/** The disk as the marker needs it. */
export interface MarkerDisk {
  /** Kind `notFound` when there is none. */
  read(path: string): Promise<string>;
  replace(path: string, text: string): Promise<void>;
  /** A missing file is no error. */
  remove(path: string): Promise<void>;
}

interface RunMarkerFileDeps {
  readonly log: Log;
  readonly disk: MarkerDisk;
  readonly path: string;
  /**
   * Where the engine writes its report when it aborts. The report contains the environment, so it is removed once read.
   */
  readonly fatalErrorPath: string;
  readonly self: Omit<RunMarker, 'phase'>;
  /** Whether the process that wrote the marker still runs. */
  readonly isRunning: (before: RunMarker) => boolean;
  readonly killedByKernel: (before: RunMarker) => boolean | undefined;
}

/**
 * A file that exists while the agent runs: an agent that finds it at its start knows that the previous run did not
 * stop. A disk that fails never keeps the agent from starting or stopping.
 *
 *   absent ──begin──> running ──stopping──> stopping ──end──> absent
 */
export class RunMarkerFile {
  readonly #deps: RunMarkerFileDeps;
  #isOurs = true;

  constructor(deps: RunMarkerFileDeps) {
    this.#deps = deps;
  }

  /** How the previous run ended. From here on this run counts as running. */
  async begin(): Promise<LastRun> {
    const { disk, path, fatalErrorPath, self, isRunning, killedByKernel } = this.#deps;
    const before = await this.#attempt('read', () => this.#read(path));
    const report = await this.#attempt('read', () => this.#read(fatalErrorPath));
    const marker = before === undefined ? undefined : parseMarker(before);
    const lastRun = classifyLastRun({
      marker,
      isRunning: marker !== undefined && marker.bootId === self.bootId && isRunning(marker),
      fatalError: report === undefined ? undefined : parseFatalError(report),
      bootId: self.bootId,
      killedByKernel: marker === undefined ? undefined : killedByKernel(marker),
    });
    // Two agents with one root directory: the files belong to the other.
    this.#isOurs = lastRun.kind !== 'stillRunning';
    if (!this.#isOurs) return lastRun;
    await this.#attempt('remove', () => disk.remove(fatalErrorPath));
    await this.#write('running');
    return lastRun;
  }

  stopping(): Promise<void> {
    return this.#write('stopping');
  }

  async end(): Promise<void> {
    if (!this.#isOurs) return;
    await this.#attempt('remove', () => this.#deps.disk.remove(this.#deps.path));
  }

  async #write(phase: RunMarker['phase']): Promise<void> {
    if (!this.#isOurs) return;
    const { disk, path, self } = this.#deps;
    await this.#attempt('write', () => disk.replace(path, `${JSON.stringify({ ...self, phase })}\n`));
  }

  async #read(path: string): Promise<string | undefined> {
    try {
      return await this.#deps.disk.read(path);
    } catch (error) {
      if (isKind(error, 'notFound')) return undefined;
      throw error;
    }
  }

  async #attempt<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#deps.log.error(error, 'Cannot keep the marker of this run', { what, path: this.#deps.path });
      return undefined;
    }
  }
}
