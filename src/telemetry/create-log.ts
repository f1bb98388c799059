import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Log, LogFields } from '../base/log.ts';
import { BatchWriter, type WriteText } from './batch-writer.ts';
import { klogJson } from './klog-json.ts';
import { klogText } from './klog-text.ts';
import type { LogLine } from './log-line.ts';
import { LossyOutput } from './lossy-output.ts';
import { pauseThread, tryStandardError } from './standard-error.ts';
import { parseVmodule, vmoduleVerbosity, type VmoduleRule } from './vmodule.ts';
import { wallClockOf } from './wall-clock.ts';

export interface LogOptions {
  readonly format: 'text' | 'json';
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'after'>;
  readonly verbosity?: number;
  /** The flag as written, or its rules. */
  readonly vmodule?: string | readonly VmoduleRule[];
  /** Where the text goes; default: standard error, without waiting for its reader. */
  readonly write?: WriteText;
  readonly pid?: number;
}

export interface LogSink extends Log {
  setVerbosity(verbosity: number): void;
  verbosity(): number;
  /** Why the lines written last did not arrive; nothing when they did. */
  problem(): string | undefined;
  /** Writes what waits for the end of the turn. */
  flush(): void;
}

/** What a logger and those made of it share. */
interface Core {
  readonly format: (line: LogLine) => string;
  readonly fileVerbosity: ((file: string) => number) | undefined;
  readonly now: () => number;
  readonly pid: number;
  readonly writer: BatchWriter;
  verbosity: number;
}

/** A log that writes lines as Kubernetes components do. */
export function createLog(options: LogOptions): LogSink {
  const rules = typeof options.vmodule === 'string' ? parseVmodule(options.vmodule) : (options.vmodule ?? []);
  const now = wallClockOf(options.clock);
  const shape = { format: options.format === 'json' ? klogJson : klogText, now, pid: options.pid ?? process.pid };
  return new KlogSink(
    {
      ...shape,
      fileVerbosity: rules.length === 0 ? undefined : vmoduleVerbosity(rules),
      writer: options.write === undefined ? standardErrorWriter(options.clock, shape) : new BatchWriter(options.write),
      verbosity: options.verbosity ?? 0,
    },
    {},
  );
}

function standardErrorWriter(
  clock: Pick<Clock, 'after'>,
  { format, now, pid }: Pick<Core, 'format' | 'now' | 'pid'>,
): BatchWriter {
  const output = new LossyOutput({
    clock,
    tryWrite: tryStandardError,
    pause: pauseThread,
    lossLine: (lines) => format(lossOf(lines, now(), pid)),
  });
  return new BatchWriter(output.write, output.finish);
}

/** The line that says how many others are missing before it. */
function lossOf(lines: number, time: number, pid: number): LogLine {
  const message = 'Log lines were dropped, the reader of standard error did not keep up';
  const where = { time, pid, position: 'lossy-output.ts:1' };
  return { ...where, severity: 'warn', level: 0, message, fields: { lines }, error: undefined };
}

/** As klog says it. */
const unknownPosition = '???:1';

const fileOf = (position = unknownPosition): string => position.slice(0, position.indexOf(':'));

/** The last argument of each method is not of the port: the build adds it to every call, see tools/lib/log-positions.mjs. */
class KlogSink implements LogSink {
  readonly #core: Core;
  readonly #fields: LogFields;

  constructor(core: Core, fields: LogFields) {
    this.#core = core;
    this.#fields = fields;
  }

  info(message: string, fields?: LogFields, position?: string): void {
    this.#add('info', 0, position, message, fields);
  }

  /** The common case is a line that is not wanted: it must cost one comparison. */
  debug(level: number, message: string, fields?: LogFields, position?: string): void {
    const { verbosity, fileVerbosity } = this.#core;
    if (level <= verbosity || (fileVerbosity !== undefined && level <= fileVerbosity(fileOf(position)))) {
      this.#add('info', level, position, message, fields);
    }
  }

  warn(message: string, fields?: LogFields, position?: string): void {
    this.#add('warn', 0, position, message, fields);
  }

  error(error: unknown, message: string, fields?: LogFields, position?: string): void {
    const text = error === undefined || error === null ? undefined : describeError(error);
    this.#add('error', 0, position, message, fields, text);
    this.#core.writer.flush();
  }

  with(fields: LogFields): LogSink {
    return new KlogSink(this.#core, { ...this.#fields, ...fields });
  }

  setVerbosity(verbosity: number): void {
    this.#core.verbosity = verbosity;
  }

  verbosity(): number {
    return this.#core.verbosity;
  }

  problem(): string | undefined {
    return this.#core.writer.problem;
  }

  flush(): void {
    this.#core.writer.flush();
  }

  #add(
    severity: LogLine['severity'],
    level: number,
    position: string | undefined,
    message: string,
    fields: LogFields | undefined,
    error?: string,
  ): void {
    const { format, now, pid, writer } = this.#core;
    const all = { ...this.#fields, ...fields };
    writer.add(
      format({ severity, level, time: now(), pid, position: position ?? unknownPosition, message, fields: all, error }),
    );
  }
}
