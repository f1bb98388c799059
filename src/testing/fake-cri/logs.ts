import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { OutputLine } from './behaviour.ts';
import type { FakeContainer, FakeState } from './state.ts';

/** Where the output of fake containers goes. */
export interface FakeLogSink {
  append(path: string, text: string): void;
}

/** Drops it. */
export const noLogs: FakeLogSink = { append() {} };

/** Real files, made where the pod's configuration wants them. */
export const fileLogs: FakeLogSink = {
  append(path, text) {
    mkdirSync(dirname(path), { recursive: true });
    appendFileSync(path, text);
  },
};

/** A line of a container log: time with nanoseconds, stream, F for full or P for partial, text. */
function logLine(stamp: bigint, line: OutputLine): string {
  const seconds = stamp / 1_000_000_000n;
  const rest = String(stamp % 1_000_000_000n).padStart(9, '0');
  const time = new Date(Number(seconds) * 1_000).toISOString().replace(/\.\d+Z$/, `.${rest}Z`);
  return `${time} ${line.stream} ${line.partial === true ? 'P' : 'F'} ${line.text}\n`;
}

export function writeOutput(
  deps: { readonly logs: FakeLogSink; readonly state: FakeState },
  container: FakeContainer,
  lines: readonly OutputLine[],
): void {
  if (container.logPath === '') return;
  // A container without output has an empty log, not none.
  deps.logs.append(container.logPath, '');
  for (const line of lines) deps.logs.append(container.logPath, logLine(deps.state.stamp(), line));
}
