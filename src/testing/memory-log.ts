import type { Log, LogFields } from '../base/log.ts';

type LogSeverity = 'info' | 'debug' | 'warn' | 'error';

export interface LogEntry {
  readonly severity: LogSeverity;
  /** Only of debug lines. */
  readonly level?: number;
  readonly message: string;
  readonly fields: LogFields;
  /** Only of error lines. */
  readonly error?: unknown;
}

/** A log that remembers; loggers made with `with` write into the same list. */
export class MemoryLog implements Log {
  readonly entries: LogEntry[];
  readonly #fields: LogFields;

  constructor(entries: LogEntry[] = [], fields: LogFields = {}) {
    this.entries = entries;
    this.#fields = fields;
  }

  info(message: string, fields?: LogFields): void {
    this.entries.push({ severity: 'info', message, fields: { ...this.#fields, ...fields } });
  }

  debug(level: number, message: string, fields?: LogFields): void {
    this.entries.push({ severity: 'debug', level, message, fields: { ...this.#fields, ...fields } });
  }

  warn(message: string, fields?: LogFields): void {
    this.entries.push({ severity: 'warn', message, fields: { ...this.#fields, ...fields } });
  }

  error(error: unknown, message: string, fields?: LogFields): void {
    this.entries.push({ severity: 'error', message, fields: { ...this.#fields, ...fields }, error });
  }

  with(fields: LogFields): MemoryLog {
    return new MemoryLog(this.entries, { ...this.#fields, ...fields });
  }

  /** The messages in order, of one severity where one is given. */
  messages(severity?: LogSeverity): string[] {
    return this.entries
      .filter((entry) => severity === undefined || entry.severity === severity)
      .map((entry) => entry.message);
  }

  clear(): void {
    this.entries.length = 0;
  }
}
