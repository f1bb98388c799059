import { describeError } from '../../base/errors.ts';
import { silentLog, type Log } from '../../base/log.ts';
import type { Screen } from '../../console/index.ts';
import type { CommandIo } from '../command.ts';

/** The output of a subcommand. */
export function screenOf(io: CommandIo): Screen {
  return {
    write: io.stdout,
    isTerminal: io.isTerminal,
    size: () => ({ width: process.stdout.columns ?? 80, height: process.stdout.rows ?? 24 }),
  };
}

/** `up` and `down` print their steps; warnings and errors for the operator go to standard error. */
export function upLog(io: CommandIo): Log {
  const log: Log = {
    ...silentLog,
    warn: (message) => io.stderr(`warning: ${message}\n`),
    error: (error, message) => io.stderr(`${message}: ${describeError(error)}\n`),
    with: () => log,
  };
  return log;
}
