import { setMaxListeners } from 'node:events';
import type { Clock } from '../../base/clock.ts';
import { isKind, kindOf, messageOf, TubeletError } from '../../base/errors.ts';
import type { ContainerId } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import { SoftLimit } from '../../base/soft-limit.ts';
import { goQuote } from '../../model/go-text.ts';
import type { PodFields } from '../../model/pod-log.ts';
import type { BodySink } from '../route.ts';
import { FolderWatches } from './folder-watches.ts';
import { LogFollower } from './log-follower.ts';
import { sinceOf, type LogOptions } from './log-options.ts';
import { LogPipe } from './log-pipe.ts';
import { LogTrail } from './log-trail.ts';
import type { ContainerLogFiles, LogSources, OpenLog } from './ports.ts';
import { blockBytes, ReadBuffers } from './read-buffers.ts';
import { RunningChecks } from './running-checks.ts';
import { findTailStart } from './tail-start.ts';

interface ContainerLogReaderDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: ContainerLogFiles;
  readonly sources: Pick<LogSources, 'isRunning'>;
}

interface WantedLog {
  /** As `prepare` gave it. */
  readonly path: string;
  readonly id: ContainerId;
  /** Whose log it is. */
  readonly named: PodFields;
  readonly options: LogOptions;
}

const newline = 0x0a;
/** Between two rounds of a follower: longer the more followers there are, so that all together read no more often. */
const [minRestMs, maxRestMs] = [100, 500];
/** Logs that are being opened: many that come at once must not delay other work, and a disk that hangs must not either. */
const opening = { max: 4, releaseAfterMs: 50 };

/** Reads container logs for clients. Everything that readers can share is here: watches, buffers, questions. */
export class ContainerLogReader {
  readonly #deps: ContainerLogReaderDeps;
  readonly #buffers = new ReadBuffers();
  readonly #watches: FolderWatches;
  readonly #running: RunningChecks;
  readonly #opening: SoftLimit;
  #followers = 0;

  constructor(deps: ContainerLogReaderDeps) {
    this.#deps = deps;
    this.#watches = new FolderWatches(deps);
    this.#running = new RunningChecks(deps);
    this.#opening = new SoftLimit({ clock: deps.clock, ...opening });
  }

  /** Watched folders, and containers that are followed. */
  get load(): { readonly folders: number; readonly containers: number } {
    return { folders: this.#watches.size, containers: this.#running.size };
  }

  /** Finds and opens a log when the limit allows it. */
  inTurn<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#opening.run(work, signal);
  }

  /** The path with links resolved, once it is clear that it can be read; fails with a message for the client. */
  async prepare(path: string, id?: ContainerId): Promise<string> {
    const { files } = this.#deps;
    let real: string;
    try {
      real = await files.resolve(path, id);
    } catch (error) {
      throw failure(error, `failed to try resolving symlinks in path ${goQuote(path)}: lstat ${path}`);
    }
    try {
      const file = await files.open(real);
      await file.close();
      return real;
    } catch (error) {
      throw failure(error, `failed to open log file ${goQuote(real)}: open ${real}`);
    }
  }

  /** Ends when everything that is wanted was given; rejects when the client has closed. */
  async send({ path, id, named, options }: WantedLog, sink: BodySink, signal: AbortSignal): Promise<void> {
    setMaxListeners(0, signal);
    const since = sinceOf(options, this.#deps.clock.now());
    const { follow, limitBytes, stream, tailLines, timestamps } = options;
    const pipe = new LogPipe({
      timestamps,
      ...(since === undefined ? {} : { since }),
      ...(stream === undefined ? {} : { stream }),
      ...(limitBytes === undefined ? {} : { limitBytes }),
      ...(follow || tailLines === undefined ? {} : { maxLines: tailLines }),
    });
    try {
      if (follow) await this.#follow({ path, id, named, options }, pipe, sink, signal);
      else await this.#readOnce(path, options, pipe, sink, signal);
    } catch (error) {
      if (!isKind(error, 'invalid', 'notFound', 'denied')) throw error;
      // The answer has begun, so that the error goes into the text: its status was sent already.
      await sink.write(messageOf(error));
    }
    if (pipe.badLines > 0) {
      this.#deps.log.debug(2, 'Lines of a container log were left out', { ...named, path, lines: pipe.badLines });
    }
  }

  async #follow(
    { path, id, named, options }: WantedLog,
    pipe: LogPipe,
    sink: BodySink,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, files, log } = this.#deps;
    const trail = await this.inTurn(() => LogTrail.open({ files, log: log.with(named), path }), signal);
    const running = this.#running.follow(id, named);
    const restMs = (): number => Math.max(minRestMs, Math.min(maxRestMs, this.#followers));
    this.#followers++;
    try {
      trail.position = await this.#start(trail.file, await trail.file.size(), options, signal);
      const shared = { clock, buffers: this.#buffers, watches: this.#watches, running, restMs };
      await new LogFollower({ ...shared, path, named, trail, pipe, sink, signal }).run();
    } finally {
      this.#followers--;
      running.release();
      await trail.close();
    }
  }

  /** Reads up to the size the file has now: a fast writer would keep the reader for ever. */
  async #readOnce(
    path: string,
    options: LogOptions,
    pipe: LogPipe,
    sink: BodySink,
    signal: AbortSignal,
  ): Promise<void> {
    const file = await this.#deps.files.open(path);
    try {
      const size = await file.size();
      const read = async (position: number, length: number, use: (chunk: Buffer) => Buffer): Promise<number> => {
        let pieces: readonly Buffer[] = [];
        const feed = (chunk: Buffer): void => void (pieces = pipe.feed(use(chunk)));
        const bytes = await this.#buffers.read(file, position, length, feed, signal);
        for (const piece of pieces) await sink.write(piece);
        return bytes;
      };
      let position = await this.#start(file, size, options, signal);
      while (position < size && !pipe.done) {
        const bytes = await read(position, size - position, (chunk) => chunk);
        if (bytes === 0) break;
        position += bytes;
      }
      // The size may have been taken while a line was being written: that line is completed.
      if (pipe.midLine && !pipe.done) await read(position, blockBytes, upToLineEnd);
      for (const piece of pipe.endOfFile()) await sink.write(piece);
    } finally {
      await file.close();
    }
  }

  async #start(file: OpenLog, size: number, { tailLines }: LogOptions, signal: AbortSignal): Promise<number> {
    return tailLines === undefined ? 0 : findTailStart(this.#buffers, file, size, tailLines, signal);
  }
}

function upToLineEnd(chunk: Buffer): Buffer {
  const end = chunk.indexOf(newline);
  return end < 0 ? chunk : chunk.subarray(0, end + 1);
}

function failure(error: unknown, what: string): TubeletError {
  if (isKind(error, 'notFound')) {
    return new TubeletError('notFound', `${what}: no such file or directory`, { cause: error });
  }
  return new TubeletError(kindOf(error), `${what}: ${messageOf(error)}`, { cause: error });
}
