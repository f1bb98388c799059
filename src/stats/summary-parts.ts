import { apiTime } from '../model/api-time.ts';
import type {
  CpuStats,
  FsStats,
  InterfaceStats,
  IoStats,
  MemoryStats,
  NetworkStats,
  PsiStats,
  SwapStats,
} from '../model/stats-summary.ts';
import type { CgroupUsage, FilesystemUsage, InterfaceUsage, Pressure, PressureLine } from '../model/usage.ts';
import type { Sample } from './sampler.ts';

/** The parts that all entries of a summary are made of. */

/** Whether pressure is reported: not at all, where the kernel counts it, or always, with zeros where it does not. */
export type PsiChoice = 'never' | 'known' | 'always';

const zero = { total: 0, avg10: 0, avg60: 0, avg300: 0 };
const noPressure: PsiStats = { full: zero, some: zero };

function psiStats(pressure: Pressure | undefined, choice: PsiChoice): PsiStats | undefined {
  if (choice === 'never' || (pressure === undefined && choice === 'known')) return undefined;
  if (pressure === undefined) return noPressure;
  return { full: psiData(pressure.full), some: psiData(pressure.some) };
}

const psiData = ({ totalUs, avg10, avg60, avg300 }: PressureLine): PsiStats['full'] => ({
  total: totalUs,
  avg10,
  avg60,
  avg300,
});

export function cpuStats({ usage, nanoCores }: Sample, time: string, choice: PsiChoice): CpuStats {
  return {
    time,
    usageNanoCores: nanoCores,
    usageCoreNanoSeconds: usage.cpu?.totalNs ?? 0,
    psi: psiStats(usage.pressure.cpu, choice),
  };
}

/** Available memory is reported only where there is a limit: the limit without the working set. */
export function memoryStats(
  { memory, pressure }: CgroupUsage,
  time: string,
  choice: PsiChoice,
  limit: number | undefined,
): MemoryStats {
  const workingSet = memory?.workingSet ?? 0;
  return {
    time,
    availableBytes: limit === undefined ? undefined : Math.max(limit - workingSet, 0),
    usageBytes: memory?.usage ?? 0,
    workingSetBytes: workingSet,
    rssBytes: memory?.rss ?? 0,
    pageFaults: memory?.faults.own.minor ?? 0,
    majorPageFaults: memory?.faults.own.major ?? 0,
    psi: psiStats(pressure.memory, choice),
  };
}

export function ioStats({ pressure }: CgroupUsage, time: string, choice: PsiChoice): IoStats {
  return { time, psi: psiStats(pressure.io, choice) };
}

export function swapStats({ memory }: CgroupUsage, time: string, available: number | undefined): SwapStats {
  return { time, swapAvailableBytes: available, swapUsageBytes: memory?.swap ?? 0 };
}

/** Upstream's first values are those of this interface. */
const customaryInterface = 'eth0';

export function networkStats(interfaces: readonly InterfaceUsage[], time: string): NetworkStats {
  const all = interfaces.map(interfaceStats);
  const first = all.find(isCustomary);
  return {
    time,
    name: first?.name,
    rxBytes: first?.rxBytes,
    rxErrors: first?.rxErrors,
    txBytes: first?.txBytes,
    txErrors: first?.txErrors,
    interfaces: all,
  };
}

const isCustomary = ({ name }: InterfaceStats): boolean => name === customaryInterface;

const interfaceStats = ({ name, rxBytes, rxErrors, txBytes, txErrors }: InterfaceUsage): InterfaceStats => ({
  name,
  rxBytes,
  rxErrors,
  txBytes,
  txErrors,
});

/** What is used, on the file system that it is on. */
export function fsStats(
  usedBytes: number | undefined,
  inodesUsed: number | undefined,
  { available, capacity, inodesFree, inodes }: Omit<FilesystemUsage, 'at'>,
  time: string,
): FsStats {
  return {
    time,
    availableBytes: available,
    capacityBytes: capacity,
    usedBytes,
    inodesFree,
    inodes,
    inodesUsed,
  };
}

/** A file system as a whole, or a part of one that is measured already. */
export const filesystemStats = (usage: FilesystemUsage): FsStats =>
  fsStats(usage.used, usage.inodesUsed, usage, apiTime(usage.at));
