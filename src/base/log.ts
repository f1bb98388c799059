/**
 * The log port. Sinks live in telemetry/; components get a `Log` in their deps and never make one. Messages are
 * constant sentences; what varies goes into fields, so that lines can be counted and searched.
 */
export interface Log {
  /** Worth a line at the default verbosity. */
  info(message: string, fields?: LogFields): void;
  /** Worth a line only from `--v=<level>` on. */
  debug(level: number, message: string, fields?: LogFields): void;
  /** Something an operator may want to act on, while the agent goes on as configured. */
  warn(message: string, fields?: LogFields): void;
  /** Something failed. The error is printed with its chain of causes. */
  error(error: unknown, message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to each of its lines. */
  with(fields: LogFields): Log;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** A log that drops everything, for tests that do not read it. */
export const silentLog: Log = {
  info() {},
  debug() {},
  warn() {},
  error() {},
  with() {
    return silentLog;
  },
};
