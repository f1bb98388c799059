import { isKind } from '../../base/errors.ts';
import { Limiter } from '../../base/limiter.ts';
import type { Log } from '../../base/log.ts';
import { logFields, type ContainerLog } from './container-log.ts';
import type { LogFiles } from './ports.ts';

interface LogCompressionDeps {
  readonly log: Log;
  readonly files: Pick<LogFiles, 'rename' | 'remove' | 'compress'>;
  /** Files that are compressed at a time. */
  readonly maxWorkers: number;
}

interface CompressionWork {
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

/**
 * Compresses rotated files in the background. Work on a log is broken off when that log is rotated again or removed: the
 * next plan counts the files anew, and a container that writes faster than we compress is not kept waiting.
 */
export class LogCompression {
  readonly #deps: LogCompressionDeps;
  readonly #limiter: Limiter;
  /** By the path of the current log. */
  readonly #work = new Map<string, CompressionWork>();

  constructor(deps: LogCompressionDeps) {
    this.#deps = deps;
    this.#limiter = new Limiter(deps.maxWorkers);
  }

  /** Nothing may be under way for that log. */
  begin(log: ContainerLog, files: readonly string[]): void {
    if (files.length === 0) return;
    const stop = new AbortController();
    const done = this.#compress(log, files, stop.signal).finally(() => this.#work.delete(log.path));
    this.#work.set(log.path, { stop, done });
  }

  /** Breaks off what is under way for a log. */
  async end(log: string): Promise<void> {
    const work = this.#work.get(log);
    work?.stop.abort();
    await work?.done;
  }

  async endAll(): Promise<void> {
    await Promise.all([...this.#work.keys()].map((log) => this.end(log)));
  }

  async #compress(log: ContainerLog, files: readonly string[], signal: AbortSignal): Promise<void> {
    for (const path of files) {
      try {
        await this.#limiter.run(() => compressFile(this.#deps.files, path, signal), signal);
      } catch (error) {
        if (signal.aborted) return;
        // It stays plain, counts as one file, and a later rotation removes it.
        this.#deps.log.error(error, 'Cannot compress a container log', { ...logFields(log), path });
      }
    }
  }
}

async function compressFile(files: LogCompressionDeps['files'], path: string, signal: AbortSignal): Promise<void> {
  const unfinished = `${path}.tmp`;
  await files.remove(unfinished);
  try {
    await files.compress(path, unfinished, signal);
    signal.throwIfAborted();
  } catch (error) {
    await files.remove(unfinished);
    if (isKind(error, 'notFound')) return;
    throw error;
  }
  await files.rename(unfinished, `${path}.gz`);
  await files.remove(path);
}
