import { closeSync, constants, openSync, readlinkSync, readSync } from 'node:fs';

/** The first namespace of process ids, whose ids the kernel's log contains. */
const firstPidNamespace = 'pid:[4026531836]';
/** More records than the log of a kernel holds by default. */
const maxRecords = 50_000;
/** The timestamps of the kernel's log and its uptime come from different clocks. */
const slackSeconds = 5;

interface KernelLogOptions {
  readonly path?: string;
  readonly pidNamespace?: string;
}

/**
 * Whether the kernel's log says that its out-of-memory killer ended this process after the machine was up for so long;
 * undefined where the log cannot be read, or has process ids of another namespace.
 */
export function wasKilledForMemory(
  pid: number,
  sinceUptimeSeconds: number,
  options: KernelLogOptions = {},
): boolean | undefined {
  try {
    if ((options.pidNamespace ?? readlinkSync('/proc/self/ns/pid')) !== firstPidNamespace) return undefined;
    const file = openSync(options.path ?? '/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return records(file).some((record) => namesKill(record, pid, sinceUptimeSeconds - slackSeconds));
    } finally {
      closeSync(file);
    }
  } catch {
    // A container or a kernel that restricts its log: there is no evidence either way.
    return undefined;
  }
}

/** `priority,sequence,microseconds,flags;text`, and the text of a kill. */
export function namesKill(record: string, pid: number, sinceSeconds: number): boolean {
  const [, micros, killed] = /^\d+,\d+,(\d+),[^;]*;.*?\bKilled process (\d+) \(/.exec(record) ?? [];
  return killed !== undefined && Number(killed) === pid && Number(micros) / 1e6 >= sinceSeconds;
}

/** Each read of the device answers one record; a plain file, as in tests, has one per line. */
function records(file: number): readonly string[] {
  const found: string[] = [];
  const buffer = Buffer.alloc(16 * 1024);
  for (let count = 0; count < maxRecords; count++) {
    const bytes = readRecord(file, buffer);
    if (bytes === 0) break;
    if (bytes !== undefined) found.push(...buffer.toString('latin1', 0, bytes).split('\n'));
  }
  return found;
}

/** How many bytes were read; 0 at the end, undefined for a record that was overwritten meanwhile. */
function readRecord(file: number, buffer: Buffer): number | undefined {
  try {
    return readSync(file, buffer);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EAGAIN') return 0;
    if (code === 'EPIPE') return undefined;
    throw error;
  }
}
