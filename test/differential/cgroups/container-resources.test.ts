import assert from 'node:assert/strict';
import type { LinuxContainerResources } from '../../../src/gen/cri/api.ts';
import { allContainers } from '../../../src/model/containers.ts';
import { containerResources, overheadResources, sandboxResources } from '../../../src/model/linux-resources.ts';
import type { NodeFacts, RuntimeSettings } from '../../../src/model/runtime-settings.ts';
import { swapBehavior, swapShare } from '../../../src/model/swap.ts';
import { goldenSettings } from '../../../src/testing/golden.ts';
import { compareRows, loadTable } from '../compare-rows.ts';
import { differences } from './differences.ts';
import { recordedPods } from './recorded-pods.ts';

type Values = Readonly<Record<string, unknown>>;

/** `v2` in full; other variants what differs from it, and left out where they are as in `usual`. */
type Recorded = Readonly<Partial<Record<string, Values>>> & { readonly v2: Values; readonly swapBehavior?: string };

interface ContainerResources {
  readonly node: Readonly<
    Record<'allocatableMemory' | 'memoryCapacity' | 'memoryThrottlingFactor' | 'swapCapacity', number>
  >;
  readonly usual: Readonly<Record<string, Values>> & { readonly swapBehavior: string };
  readonly pods: Readonly<
    Record<
      string,
      { readonly containers: Readonly<Record<string, Recorded>>; readonly sandbox: Values; readonly overhead?: Values }
    >
  >;
}

const { node, usual, pods: recorded } = loadTable<ContainerResources>('cgroups/container-resources');

const facts: NodeFacts = {
  memoryCapacityBytes: BigInt(node.memoryCapacity),
  swapCapacityBytes: BigInt(node.swapCapacity),
  allocatable: { memory: String(node.allocatableMemory) },
  hugePageSizes: ['2MB', '1GB'],
  thermalThrottlePaths: [],
};
const v2: RuntimeSettings = {
  ...goldenSettings,
  cgroupVersion: 2,
  singleProcessOomKill: false,
  memoryThrottlingFactor: node.memoryThrottlingFactor,
};
const variants: Readonly<Record<string, Partial<RuntimeSettings>>> = {
  v2: {},
  v1: { cgroupVersion: 1 },
  v2LimitedSwap: { memorySwapBehavior: 'LimitedSwap' },
  v2MemoryQoS: { featureGates: (name) => name === 'MemoryQoS' },
  v2NoSwapController: { swapControllerAvailable: false },
  v2SingleProcessOOMKill: { singleProcessOomKill: true },
  v2WithoutQuota: { cpuCfsQuota: false },
};

const pods = recordedPods();
const containers = [...pods].flatMap(([name, pod]) =>
  allContainers(pod.spec).map(({ container }) => {
    const one = recorded[name]?.containers[container.name] ?? assert.fail(`${name} ${container.name} is not recorded`);
    return { key: `${name} ${container.name}`, pod, container, one };
  }),
);

compareRows(
  'container-resources',
  containers.flatMap(({ key, pod, container, one }) =>
    Object.entries(variants).map(([variant, settings]) => ({
      key: `${key} ${variant}`,
      recorded: withoutNull({ ...one.v2, ...(variant === 'v2' ? {} : (one[variant] ?? usual[variant])) }),
      ours: () => said(containerResources(pod, container, facts, { ...v2, ...settings })),
    })),
  ),
  differences,
);

compareRows(
  'swapBehavior',
  containers.map(({ key, pod, container, one }) => ({
    key,
    recorded: one.swapBehavior ?? usual.swapBehavior,
    ours: () => swapBehavior(pod, container, { ...v2, memorySwapBehavior: 'LimitedSwap' }),
  })),
  differences,
);

compareRows(
  'sandbox',
  [...pods].map(([name, { spec }]) => ({
    key: name,
    recorded: { sandbox: recorded[name]?.sandbox, overhead: recorded[name]?.overhead },
    ours: () => ({
      sandbox: said(sandboxResources(spec, v2)),
      overhead: spec.overhead === undefined ? undefined : said(overheadResources(spec, v2)),
    }),
  })),
  differences,
);

interface SwapLimit {
  readonly nodeMemory: number;
  readonly request: number;
  readonly swap: number;
  readonly limit?: number;
  readonly error?: string;
}

compareRows(
  'swapLimit',
  loadTable<{ readonly swapLimit: readonly SwapLimit[] }>('cgroups/swap-and-back').swapLimit.map((row) => ({
    key: [row.request, row.nodeMemory, row.swap].join(' '),
    recorded: row.limit ?? 'none',
    ours: () => {
      const sizes = { memoryCapacityBytes: BigInt(row.nodeMemory), swapCapacityBytes: BigInt(row.swap) };
      return swapShare(BigInt(row.request), sizes) ?? 'none';
    },
  })),
  differences,
);

function withoutNull(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

/** What is on the wire: zeros and empty fields are not. */
function said({ hugepageLimits, unified, ...numbers }: LinuxContainerResources): Values {
  const set = Object.entries(numbers).filter(([, value]) => value !== 0n && value !== '');
  return {
    ...Object.fromEntries(set),
    ...(hugepageLimits.length > 0 && {
      hugepageLimits: new Map(hugepageLimits.map(({ pageSize, limit }) => [pageSize, limit] as const)),
    }),
    ...(Object.keys(unified).length > 0 && { unified }),
  };
}
