import type { EvictionSignal } from '../model/eviction-thresholds.ts';
import { Quantity } from '../model/quantity.ts';
import type { FsStats, MemoryStats, Summary } from '../model/stats-summary.ts';

/** What is left of something on the node. */
interface Observation {
  readonly available: Quantity;
  readonly capacity: Quantity;
  /** Wall milliseconds; undefined where the figures have no time. */
  readonly time: number | undefined;
}

export type Observations = ReadonlyMap<EvictionSignal, Observation>;

/** Signals of which a figure is missing are left out: nothing can be said about them. */
export function observationsOf({ node }: Summary): Observations {
  const pods = node.systemContainers?.find(({ name }) => name === 'pods');
  const found = new Map<EvictionSignal, Observation | undefined>([
    ['memory.available', ofMemory(node.memory)],
    ['allocatableMemory.available', ofMemory(pods?.memory)],
    ['nodefs.available', ofBytes(node.fs)],
    ['nodefs.inodesFree', ofInodes(node.fs)],
    ['imagefs.available', ofBytes(node.runtime?.imageFs)],
    ['imagefs.inodesFree', ofInodes(node.runtime?.imageFs)],
    ['containerfs.available', ofBytes(node.runtime?.containerFs)],
    ['containerfs.inodesFree', ofInodes(node.runtime?.containerFs)],
    ['pid.available', ofProcesses(node.rlimit)],
  ]);
  return new Map([...found].flatMap(([signal, one]) => (one === undefined ? [] : [[signal, one] as const])));
}

function ofMemory(memory: MemoryStats | undefined): Observation | undefined {
  const { availableBytes, workingSetBytes, time } = memory ?? {};
  if (availableBytes === undefined || workingSetBytes === undefined) return undefined;
  return observed(availableBytes, availableBytes + workingSetBytes, time, 'binarySI');
}

function ofBytes(fs: FsStats | undefined): Observation | undefined {
  const { availableBytes, capacityBytes, time } = fs ?? {};
  if (availableBytes === undefined || capacityBytes === undefined) return undefined;
  return observed(availableBytes, capacityBytes, time, 'binarySI');
}

function ofInodes(fs: FsStats | undefined): Observation | undefined {
  const { inodesFree, inodes, time } = fs ?? {};
  if (inodesFree === undefined || inodes === undefined) return undefined;
  return observed(inodesFree, inodes, time, 'decimalSI');
}

/** More may run than are allowed, when the limit was lowered. */
function ofProcesses(limits: Summary['node']['rlimit']): Observation | undefined {
  const { maxpid, curproc, time } = limits ?? {};
  if (maxpid === undefined || curproc === undefined) return undefined;
  return observed(maxpid - curproc, maxpid, time, 'decimalSI');
}

function observed(
  available: number,
  capacity: number,
  time: string | undefined,
  format: 'binarySI' | 'decimalSI',
): Observation {
  const parsed = Date.parse(time ?? '');
  return {
    available: Quantity.ofValue(BigInt(Math.trunc(available)), format),
    capacity: Quantity.ofValue(BigInt(Math.trunc(capacity)), format),
    time: Number.isNaN(parsed) ? undefined : parsed,
  };
}
