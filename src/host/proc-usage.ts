import type { DiskActivity, InterfaceUsage, Pressure, ThreadCounts } from '../model/usage.ts';
import { fieldOf, numberOf, pressureOf } from './cgroup-usage-text.ts';
import { readPseudoFile } from './proc-usage-file.ts';
import {
  blockDevicesIn,
  cpuOfStat,
  diskActivitiesIn,
  interfacesIn,
  machineMemory,
  memoryOfMachine,
  threadsOfLoadavg,
  type MachineMemory,
} from './proc-usage-text.ts';
import type { CpuUsage, MemoryUsage } from '../model/usage.ts';

/** The machine as /proc describes it. */
export class HostProcUsage {
  readonly #proc: string;

  /** Where /proc is; elsewhere in tests. */
  constructor(proc = '/proc') {
    this.#proc = proc;
  }

  /** Traffic of the network that a process sees, `self` for the agent's own; empty when it has ended. */
  interfaces(pid: number | 'self'): readonly InterfaceUsage[] {
    return interfacesIn(this.#read(`${pid}/net/dev`) ?? '');
  }

  memory(): MachineMemory {
    return machineMemory(this.#read('meminfo') ?? '');
  }

  threads(): ThreadCounts {
    const limits = [numberOf(this.#read('sys/kernel/pid_max')), numberOf(this.#read('sys/kernel/threads-max'))].filter(
      (limit) => limit !== undefined,
    );
    return {
      max: limits.length === 0 ? undefined : Math.min(...limits),
      current: threadsOfLoadavg(this.#read('loadavg') ?? ''),
    };
  }

  /** Wall-clock milliseconds. */
  bootTime(): number | undefined {
    const seconds = fieldOf(this.#read('stat') ?? '', 'btime');
    return seconds === undefined ? undefined : seconds * 1_000;
  }

  /** All processors since boot. */
  cpu(): CpuUsage | undefined {
    return cpuOfStat(this.#read('stat') ?? '');
  }

  /** The machine's memory as a usage. */
  memoryUsage(): MemoryUsage | undefined {
    const meminfo = this.#read('meminfo');
    return meminfo === undefined ? undefined : memoryOfMachine(meminfo, this.#read('vmstat') ?? '');
  }

  pressure(): Readonly<Partial<Record<'cpu' | 'memory' | 'io', Pressure>>> {
    const of = (resource: string): Pressure | undefined => pressureOf(this.#read(`pressure/${resource}`));
    const [cpu, memory, io] = [of('cpu'), of('memory'), of('io')];
    return { ...(cpu && { cpu }), ...(memory && { memory }), ...(io && { io }) };
  }

  /** Names of block devices by their numbers. */
  blockDevices(): ReadonlyMap<string, string> {
    return blockDevicesIn(this.#read('diskstats') ?? '');
  }

  /** Activity of disks and partitions, by device. */
  disks(): ReadonlyMap<string, DiskActivity> {
    return diskActivitiesIn(this.#read('diskstats') ?? '');
  }

  #read(file: string): string | undefined {
    return readPseudoFile(`${this.#proc}/${file}`);
  }
}
