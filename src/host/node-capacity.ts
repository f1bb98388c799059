import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Quantity } from '../model/quantity.ts';
import type { MachineInfo } from './machine-info.ts';

/** Where the kernel reports capacity; elsewhere in tests. */
const kernelFolders = { hugePages: '/sys/kernel/mm/hugepages', settings: '/proc/sys/kernel' };

/** What the machine has of everything that the cgroup of all pods can be limited in. */
export function nodeCapacity(
  machine: Pick<MachineInfo, 'cpus' | 'memoryBytes'>,
  folders: Readonly<typeof kernelFolders> = kernelFolders,
): Readonly<Record<string, string>> {
  return {
    cpu: String(machine.cpus),
    memory: String(machine.memoryBytes),
    pid: String(Math.min(numberIn(join(folders.settings, 'pid_max')), numberIn(join(folders.settings, 'threads-max')))),
    ...hugePages(folders.hugePages),
  };
}

/** From folders like `hugepages-2048kB`, each with the number of pages set aside. */
function hugePages(folder: string): Readonly<Record<string, string>> {
  if (!existsSync(folder)) return {};
  return Object.fromEntries(
    readdirSync(folder).flatMap((name) => {
      const kilobytes = /^hugepages-(\d+)kB$/.exec(name)?.[1];
      if (kilobytes === undefined) return [];
      const size = BigInt(kilobytes) * 1024n;
      const bytes = size * BigInt(numberIn(join(folder, name, 'nr_hugepages')));
      return [[`hugepages-${Quantity.ofValue(size, 'binarySI').toString()}`, String(bytes)]];
    }),
  );
}

const numberIn = (path: string): number => Number(readFileSync(path, 'utf8').trim());
