import type { CpuUsage, DiskActivity, InterfaceUsage, MemoryUsage } from '../model/usage.ts';
import { fieldOf, numbersIn } from './cgroup-usage-text.ts';

/** Parses the texts of files in /proc. */

const nanosPerTick = 1e7;
const kilobyte = 1_024;

/** Interfaces that only repeat the traffic of others: loopback, and the host's ends of containers' veth pairs. */
const repeating = ['lo', 'veth', 'docker', 'nerdctl'];

/** /proc/<pid>/net/dev: two lines of headings, then a line for each interface. */
export function interfacesIn(text: string): readonly InterfaceUsage[] {
  const found: InterfaceUsage[] = [];
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).trim();
    if (colon < 0 || isRepeating(name)) continue;
    const [rxBytes, rxPackets, rxErrors, rxDropped, , , , , txBytes, txPackets, txErrors, txDropped] = numbersIn(
      line.slice(colon + 1),
    );
    found.push({
      name,
      rxBytes: rxBytes ?? 0,
      rxPackets: rxPackets ?? 0,
      rxErrors: rxErrors ?? 0,
      rxDropped: rxDropped ?? 0,
      txBytes: txBytes ?? 0,
      txPackets: txPackets ?? 0,
      txErrors: txErrors ?? 0,
      txDropped: txDropped ?? 0,
    });
  }
  return found;
}

function isRepeating(name: string): boolean {
  for (const prefix of repeating) if (name.startsWith(prefix)) return true;
  return false;
}

/** The line of all processors in /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal, … */
export function cpuOfStat(text: string): CpuUsage | undefined {
  const [word, ...figures] = text.slice(0, text.indexOf('\n')).split(/ +/);
  if (word !== 'cpu' || figures.length < 7) return undefined;
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = figures.map(Number);
  const userNs = (user + nice) * nanosPerTick;
  const systemNs = (system + irq + softIrq) * nanosPerTick;
  return { totalNs: userNs + systemNs, userNs, systemNs };
}

export interface MachineMemory {
  readonly total: number;
  readonly free: number;
  readonly swapTotal: number;
  readonly swapFree: number;
}

/** /proc/meminfo. */
export function machineMemory(meminfo: string): MachineMemory {
  const bytes = bytesOf(meminfo);
  return {
    total: bytes('MemTotal'),
    free: bytes('MemFree'),
    swapTotal: bytes('SwapTotal'),
    swapFree: bytes('SwapFree'),
  };
}

/** The machine in the form of a cgroup, where the root cgroup has no memory files. */
export function memoryOfMachine(meminfo: string, vmstat: string): MemoryUsage {
  const bytes = bytesOf(meminfo);
  const { total, free, swapTotal, swapFree } = machineMemory(meminfo);
  const usage = total - free;
  const inactiveFile = bytes('Inactive(file)');
  const faults = { minor: fieldOf(vmstat, 'pgfault') ?? 0, major: fieldOf(vmstat, 'pgmajfault') ?? 0 };
  return {
    usage,
    maxUsage: undefined,
    workingSet: Math.max(usage - inactiveFile, 0),
    rss: bytes('AnonPages'),
    cache: bytes('Cached'),
    mappedFile: bytes('Mapped'),
    swap: swapTotal - swapFree,
    kernel: bytes('Slab') + bytes('KernelStack') + bytes('PageTables'),
    activeFile: bytes('Active(file)'),
    inactiveFile,
    failures: 0,
    faults: { own: faults, all: faults },
    oomEvents: fieldOf(vmstat, 'oom_kill'),
  };
}

const bytesOf =
  (meminfo: string) =>
  (key: string): number =>
    (fieldOf(meminfo, key) ?? 0) * kilobyte;

/** The number of threads that exist, from the fourth word of /proc/loadavg: `3/175`. */
export function threadsOfLoadavg(text: string): number | undefined {
  const threads = Number(/\d+\/(?<all>\d+)/.exec(text)?.groups?.['all']);
  return Number.isNaN(threads) ? undefined : threads;
}

/** /proc/diskstats: `major:minor` → `/dev/<name>`. */
export function blockDevicesIn(diskstats: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const line of diskstats.split('\n')) {
    const [major, minor, name] = line.trim().split(/ +/, 3);
    if (name !== undefined) names.set(`${major}:${minor}`, `/dev/${name}`);
  }
  return names;
}

/** /proc/diskstats: `/dev/<name>` → its activity. A line with fewer fields is not of a disk. */
export function diskActivitiesIn(diskstats: string): ReadonlyMap<string, DiskActivity> {
  const disks = new Map<string, DiskActivity>();
  for (const line of diskstats.split('\n')) {
    const [, , name, ...words] = line.trim().split(/ +/);
    const figures = words.slice(0, 11).map(Number);
    if (name === undefined || figures.length < 11 || !figures.every(Number.isSafeInteger)) continue;
    const [reads = 0, readsMerged = 0, sectorsRead = 0, readMs = 0, writes = 0, writesMerged = 0] = figures;
    const [sectorsWritten = 0, writeMs = 0, inProgress = 0, busyMs = 0, weightedMs = 0] = figures.slice(6);
    const read = { reads, readsMerged, sectorsRead, readMs };
    const written = { writes, writesMerged, sectorsWritten, writeMs };
    disks.set(`/dev/${name}`, { ...read, ...written, inProgress, busyMs, weightedMs });
  }
  return disks;
}

/** The soft limit of open files in /proc/<pid>/limits; -1 for none. */
export function openFilesLimit(limits: string): number | undefined {
  const word = /^Max open files +(?<soft>\S+)/m.exec(limits)?.groups?.['soft'];
  if (word === undefined) return undefined;
  return word === 'unlimited' ? -1 : Number(word);
}
