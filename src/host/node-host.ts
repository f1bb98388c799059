import { statfs } from 'node:fs/promises';
import { arch, release, uptime } from 'node:os';
import { existsSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { goArchitecture } from '../model/architecture.ts';
import type { HostIdentity, HostNetwork, KernelFacts } from '../model/host-facts.ts';
import type { MachineInfo } from './machine-info.ts';
import { nodeCapacity } from './node-capacity.ts';
import { readNodeInfo } from './node-info.ts';
import { lookupAddresses, readNodeNetwork } from './node-network.ts';

/** The machine as far as a node is made from it. */
interface NodeHost {
  identity(): Promise<HostIdentity>;
  network(): HostNetwork;
  lookup(name: string): Promise<readonly string[]>;
  capacity(): Readonly<Record<string, string>>;
  swapBytes(): bigint;
  /** Size of the file system that holds the agent's folder. */
  rootFsBytes(): Promise<bigint>;
}

interface NodeHostOptions {
  readonly machine: MachineInfo;
  readonly rootDir: string;
  /** Comma-separated, the first that can be read counts. */
  readonly machineIdFiles: string;
  readonly bootIdFile: string;
}

export function nodeHost({ machine, rootDir, machineIdFiles, bootIdFile }: NodeHostOptions): NodeHost {
  return {
    identity: () => readNodeInfo({ machineIdFiles, bootIdFile }),
    network: readNodeNetwork,
    lookup: lookupAddresses,
    capacity: () => nodeCapacity(machine),
    swapBytes: () => machine.swapBytes,
    async rootFsBytes() {
      const { blocks, bsize } = await statfs(rootDir, { bigint: true });
      return blocks * bsize;
    },
  };
}

export function readKernelFacts(): KernelFacts {
  return {
    architecture: goArchitecture(arch()),
    kernelVersion: release(),
    hasAppArmor: existsSync('/sys/kernel/security/apparmor/profiles'),
  };
}

/** When this program began. */
interface ProgramStart {
  /** How long the machine had been up by then. */
  readonly upSeconds: number;
  /** On the monotonic clock. */
  readonly startedAt: number;
}

export function readProgramStart(clock: Pick<Clock, 'monotonic'>): ProgramStart {
  return { upSeconds: uptime() - process.uptime(), startedAt: clock.monotonic() - process.uptime() * 1_000 };
}
