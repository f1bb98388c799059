import type { LogFields } from '../base/log.ts';

/** One line before it becomes text. */
export interface LogLine {
  readonly severity: 'info' | 'warn' | 'error';
  /** 0 but for debug lines. */
  readonly level: number;
  /** Wall time in milliseconds, with a fraction. */
  readonly time: number;
  readonly pid: number;
  /** Base name of the source file and line: `worker.ts:12`. */
  readonly position: string;
  readonly message: string;
  readonly fields: LogFields;
  /** The text of the error with its causes; undefined where there is none. */
  readonly error: string | undefined;
}
