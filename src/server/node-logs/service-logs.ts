import { withTimeout } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { isKind, messageOf, TubeletError } from '../../base/errors.ts';
import { Limiter } from '../../base/limiter.ts';
import type { BodySink } from '../route.ts';
import { openBelow, sendFile, type FilePagesDeps } from './file-pages.ts';
import { journalCommand, knownServices, logFilesOf, unitsCommand } from './journal-command.ts';
import type { ServiceQuery } from './log-query.ts';
import type { JournalRunner } from './ports.ts';

export interface ServiceLogsDeps extends FilePagesDeps {
  readonly clock: Clock;
  readonly journal: JournalRunner;
}

/** For all of a query, the client's slowness included. */
const limitMs = 30_000;
const maxUnitBytes = 4 * 1024 * 1024;
/** A longer answer is cut off: the client can narrow its query. */
const maxOutputBytes = 256 * 1024 * 1024;
/** Programs that run at a time. */
const maxQueries = 4;

/** Answers queries about the node's services: from the journal where it knows them, else from their files. */
export class ServiceLogs {
  readonly #deps: ServiceLogsDeps;
  readonly #limiter = new Limiter(maxQueries);

  constructor(deps: ServiceLogsDeps) {
    this.#deps = deps;
  }

  /** An error is written into the answer, which has begun. */
  async send(query: ServiceQuery, sink: BodySink, signal: AbortSignal): Promise<void> {
    try {
      await this.#limiter.run(
        () =>
          withTimeout(
            this.#deps.clock,
            limitMs,
            (inner) => this.#answer(query, boundedSink(sink, inner), inner),
            signal,
          ),
        signal,
      );
    } catch (error) {
      if (signal.aborted || !isKind(error, 'timeout', 'exhausted')) throw error;
      const why = isKind(error, 'timeout') ? `the query took longer than ${limitMs / 1_000} s` : messageOf(error);
      await sink.write(`\nerror: ${why}\n`);
    }
  }

  async #answer({ services, options }: ServiceQuery, sink: BodySink, signal: AbortSignal): Promise<void> {
    const known = await this.#known(services, signal);
    const native = services.filter((service) => known.has(service));
    const others = services.filter((service) => !known.has(service));
    if (native.length > 0) {
      const args = journalCommand({ services: native, options });
      const end = await this.#deps.journal.run(args, (chunk) => sink.write(chunk), signal);
      if (end.kind === 'notStarted' && (options.boot ?? 0) === 0) {
        await sink.write('\nerror: journal output not available\n');
      }
    }
    if (others.length === 0) return;
    if (Object.keys(options).length > 0) {
      const words = `options present and query resolved to log files for [${others.join(' ')}]`;
      await sink.write(`\n${words}\ntry without specifying options\n`);
      return;
    }
    for (const service of others) await this.#sendFileOf(service, sink, signal);
  }

  /** The journal says nothing about a unit that it does not know, so it is asked for those it knows. */
  async #known(services: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const keep = async (chunk: Uint8Array): Promise<void> => {
      bytes += chunk.length;
      if (bytes <= maxUnitBytes) chunks.push(chunk);
    };
    await this.#deps.journal.run(unitsCommand, keep, signal);
    return knownServices(services, Buffer.concat(chunks).toString('utf8'));
  }

  async #sendFileOf(service: string, sink: BodySink, signal: AbortSignal): Promise<void> {
    for (const name of logFilesOf(service)) {
      try {
        const found = await openBelow(this.#deps, name.split('/'));
        try {
          // A folder of that name may hold the file.
          if (found.kind === 'folder') continue;
          await sendFile(found, sink, signal);
          return;
        } finally {
          await found.close();
        }
      } catch (error) {
        if (isKind(error, 'notFound')) continue;
        if (!isKind(error, 'denied')) throw error;
        await sink.write(`\nerror getting log for ${service}: permission denied\n`);
        return;
      }
    }
    await sink.write(`\nlog not found for ${service}\n`);
  }
}

/** Closed when the signal aborts: a source that ignores the signal must not write into what comes after. */
function boundedSink(sink: BodySink, signal: AbortSignal): BodySink {
  let left = maxOutputBytes;
  return {
    async write(chunk) {
      signal.throwIfAborted();
      left -= chunk.length;
      if (left < 0) throw new TubeletError('exhausted', `there is more than ${maxOutputBytes} bytes; narrow the query`);
      await sink.write(chunk);
    },
  };
}
