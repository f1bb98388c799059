import { endReasons } from './reasons.ts';

/** Limits in bytes and lines of a termination message. */
export const terminationLimits = { file: 4096, log: 2048, logLines: 80, pod: 12_288 } as const;

/** How much of the end of a log is read. */
export interface TailLimits {
  readonly lines: number;
  readonly bytes: number;
}

interface TerminationMessageInput {
  /** What is in the termination message file; nothing where there is none. */
  readonly fileContent: string | undefined;
  readonly policy: string;
  readonly exitCode: number;
  readonly reason: string;
  /** The end of the container's log, without the runtime's prefixes; only read by `wantsLogTail`. */
  readonly logTail: string | undefined;
  /** The runtime's own message about the end. */
  readonly runtimeMessage?: string;
}

/** Whether the log has to be read: nothing was written, and the container failed after it had run. */
export function wantsLogTail(input: Omit<TerminationMessageInput, 'logTail'>): boolean {
  return (
    input.policy === 'FallbackToLogsOnError' &&
    !input.fileContent &&
    input.exitCode !== 0 &&
    input.reason !== endReasons.containerCannotRun
  );
}

/** The message of a terminated container. */
export function computeTerminationMessage(input: TerminationMessageInput): string {
  const text = wantsLogTail(input)
    ? lastBytes(lastLines(input.logTail ?? '', terminationLimits.logLines), terminationLimits.log)
    : lastBytes(input.fileContent ?? '', terminationLimits.file);
  return [input.runtimeMessage ?? '', text].filter((part) => part !== '').join(': ');
}

/** The first `limit` bytes of a text, never half a character. */
export function firstBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  let end = limit;
  while (end > 0 && isContinuation(bytes[end])) end--;
  return bytes.toString('utf8', 0, end);
}

function lastBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  let start = bytes.length - limit;
  while (start < bytes.length && isContinuation(bytes[start])) start++;
  return bytes.toString('utf8', start);
}

function lastLines(text: string, count: number): string {
  const lines = text.split('\n');
  // A final line break ends the last line; it does not begin another.
  const ended = lines.at(-1) === '' ? 1 : 0;
  return lines.slice(-count - ended).join('\n');
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
