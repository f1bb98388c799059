import { readdirSync, readFileSync } from 'node:fs';

/** A process, distinguished from a later one with the same process id. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks between boot and its start, from /proc. */
  readonly startTime: string;
}

export interface ProcessInfo extends ProcessIdentity {
  readonly parent: number;
  readonly argv: readonly string[];
  /** Its paths in the cgroup hierarchies, without repetition. */
  readonly cgroups: readonly string[];
}

/** Every living process of the machine, without zombies. */
export function listProcesses(): readonly ProcessInfo[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcess(Number(name)))
    .filter((info) => info !== undefined);
}

export function identityOf(pid: number): ProcessIdentity | undefined {
  const stat = parseStat(readPseudoFile(`/proc/${pid}/stat`));
  return stat === undefined || hasEnded(stat) ? undefined : { pid, startTime: stat.startTime };
}

/** Whether the recorded process still lives. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identityOf(identity.pid)?.startTime === identity.startTime;
}

/** Sends a signal to exactly the recorded process; answers whether it still lived. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ESRCH') return false;
    throw error;
  }
}

/** Distinguishes this boot from others, because process ids and start times repeat after a reboot. */
export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** The fields used here of a line of /proc/PID/stat. */
interface ProcessStat {
  readonly parent: number;
  readonly state: string;
  readonly threads: number;
  readonly startTime: string;
}

/** The command name may hold spaces and parentheses. */
export function parseStat(text: string): ProcessStat | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent] = fields;
  const [threads, startTime] = [fields[17], fields[19]];
  if (state === undefined || parent === undefined || threads === undefined || startTime === undefined) return undefined;
  return { state, parent: Number(parent), threads: Number(threads), startTime };
}

/** A process whose first thread has ended keeps its ports and files until its last thread has. */
export function hasEnded({ state, threads }: Pick<ProcessStat, 'state' | 'threads'>): boolean {
  return state === 'Z' && threads <= 1;
}

function readProcess(pid: number): ProcessInfo | undefined {
  const stat = parseStat(readPseudoFile(`/proc/${pid}/stat`));
  if (stat === undefined || hasEnded(stat)) return undefined;
  const argv = readPseudoFile(`/proc/${pid}/cmdline`).split('\0');
  const cgroups = readPseudoFile(`/proc/${pid}/cgroup`)
    .split('\n')
    .map((line) => line.split(':').slice(2).join(':'));
  return {
    pid,
    parent: stat.parent,
    startTime: stat.startTime,
    argv: argv.at(-1) === '' ? argv.slice(0, -1) : argv,
    cgroups: [...new Set(cgroups)].filter((path) => path !== ''),
  };
}

/** A process may end while it is being read: then its files are missing. */
function readPseudoFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes(errnoOf(error) ?? '')) return '';
    throw error;
  }
}

export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
