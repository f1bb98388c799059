import { readdirSync } from 'node:fs';
import type { MachineFacts } from '../model/usage.ts';
import { numberOf } from './cgroup-usage-text.ts';
import { readMachineInfo, type MachineInfo } from './machine-info.ts';
import { readNodeInfo, type NodeInfoOptions } from './node-info.ts';
import { readPseudoFile } from './proc-usage-file.ts';

interface MachineFactsOptions extends NodeInfoOptions {
  readonly machine?: Pick<MachineInfo, 'memoryBytes' | 'swapBytes' | 'cpus'>;
  /** Where the kernel describes processors; elsewhere in tests. */
  readonly processors?: string;
}

/** Constant properties of the machine, so they are read once. */
export async function readMachineFacts(options: MachineFactsOptions = {}): Promise<MachineFacts> {
  const { memoryBytes, swapBytes, cpus } = options.machine ?? readMachineInfo();
  const info = await readNodeInfo(options);
  const { cores, sockets } = topology(options.processors ?? '/sys/devices/system/cpu');
  return {
    ...info,
    cores: cpus,
    // Without topology files every processor counts as a core of its own.
    physicalCores: cores === 0 ? cpus : cores,
    sockets: sockets === 0 ? 1 : sockets,
    memoryBytes: Number(memoryBytes),
    swapBytes: Number(swapBytes),
  };
}

/** Cores are numbered anew in each socket; processors of one core share both numbers. */
function topology(folder: string): { readonly cores: number; readonly sockets: number } {
  const cores = new Set<string>();
  const sockets = new Set<number>();
  for (const name of readdirSync(folder)) {
    if (!/^cpu\d+$/.test(name)) continue;
    const socket = numberOf(readPseudoFile(`${folder}/${name}/topology/physical_package_id`));
    const core = numberOf(readPseudoFile(`${folder}/${name}/topology/core_id`));
    if (socket === undefined || core === undefined) continue;
    sockets.add(socket);
    cores.add(`${socket}:${core}`);
  }
  return { cores: cores.size, sockets: sockets.size };
}
