import { readdirSync } from 'node:fs';
import type { MachineFacts } from '../model/usage.ts';
import { numberOf } from './cgroup-usage-text.ts';
import { readMachine, type Machine } from './machine.ts';
import { readNodeInfo, type NodeInfoOptions } from './node-info.ts';
import { readPseudoFile } from './proc-usage-file.ts';

interface MachineFactsOptions extends NodeInfoOptions {
  readonly machine?: Pick<Machine, 'memoryBytes' | 'swapBytes' | 'cpus'>;
  /** Where the kernel describes processors; elsewhere in tests. */
  readonly processors?: string;
}

/** What the machine is. It stays that for as long as the agent runs, so it is read once. */
export async function readMachineFacts(options: MachineFactsOptions = {}): Promise<MachineFacts> {
  const { memoryBytes, swapBytes, cpus } = options.machine ?? readMachine();
  const info = await readNodeInfo(options);
  const { cores, sockets } = topology(options.processors ?? '/sys/devices/system/cpu');
  return {
    ...info,
    cores: cpus,
    // A machine that does not tell has at least what it has.
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
