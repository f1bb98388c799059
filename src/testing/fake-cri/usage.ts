import { TubeletError } from '../../base/errors.ts';
import type {
  ContainerStats,
  CpuUsage,
  MemoryUsage,
  Metric,
  MetricDescriptor,
  PodSandboxMetrics,
  PodSandboxStats,
} from '../../gen/cri/api.ts';
import { MetricType } from '../../gen/cri/api.ts';
import type { HandlersFor } from './handlers.ts';
import { containerMatches } from './containers.ts';
import { sandboxMatches } from './sandboxes.ts';
import type { FakeContainer, FakeSandbox, FakeState } from './state.ts';

/** What a container uses while it runs. */
interface Usage {
  readonly nanoCores: bigint;
  readonly memoryBytes: bigint;
  readonly writableLayerBytes: bigint;
}

const littleUsage: Usage = { nanoCores: 1_000_000n, memoryBytes: 1_048_576n, writableLayerBytes: 4_096n };

/** Scripted usage by container name. */
export class FakeUsage {
  readonly #byName = new Map<string, Usage>();

  set(containerName: string, usage: Partial<Usage>): void {
    this.#byName.set(containerName, { ...littleUsage, ...usage });
  }

  of(container: FakeContainer): Usage {
    return this.#byName.get(container.config.metadata?.name ?? '') ?? littleUsage;
  }
}

interface UsageDeps {
  readonly state: FakeState;
  readonly usage: FakeUsage;
  readonly imageFilesystem: string;
}

type StatsVerb =
  | 'containerStats'
  | 'listContainerStats'
  | 'podSandboxStats'
  | 'listPodSandboxStats'
  | 'listMetricDescriptors'
  | 'listPodSandboxMetrics';

const memoryMetric: MetricDescriptor = {
  name: 'container_memory_working_set_bytes',
  help: 'Current working set of the container in bytes',
  labelKeys: ['id', 'name'],
};

export function statsHandlers(deps: UsageDeps): HandlersFor<StatsVerb> {
  const { state } = deps;
  return {
    containerStats({ containerId }) {
      const container = state.container(containerId);
      if (container.state !== 'running') throw new TubeletError('internal', 'unexpected metrics response: []');
      return { stats: containerStats(deps, container) };
    },
    listContainerStats({ filter }) {
      const wanted = filter === undefined ? undefined : { ...filter, state: undefined };
      const found = runningContainers(state).filter((container) => containerMatches(container, wanted));
      return { stats: found.map((container) => containerStats(deps, container)) };
    },
    podSandboxStats({ podSandboxId }) {
      return { stats: sandboxStats(deps, state.sandbox(podSandboxId)) };
    },
    listPodSandboxStats({ filter }) {
      const wanted = filter === undefined ? undefined : { ...filter, state: undefined };
      const found = [...state.sandboxes.values()].filter(
        (sandbox) => sandbox.state === 'ready' && sandboxMatches(sandbox, wanted),
      );
      return { stats: found.map((sandbox) => sandboxStats(deps, sandbox)) };
    },
    listMetricDescriptors: () => ({ descriptors: [memoryMetric] }),
    listPodSandboxMetrics: () => ({
      podMetrics: [...state.sandboxes.values()].map((sandbox) => sandboxMetrics(deps, sandbox)),
    }),
  };
}

function runningContainers(state: FakeState): FakeContainer[] {
  return [...state.containers.values()].filter((container) => container.state === 'running');
}

function cpuUsage(deps: UsageDeps, containers: readonly FakeContainer[]): CpuUsage {
  const now = deps.state.stamp();
  let nanoSeconds = 0n;
  let nanoCores = 0n;
  for (const container of containers) {
    const rate = deps.usage.of(container).nanoCores;
    nanoCores += rate;
    nanoSeconds += ((now - container.startedAt) * rate) / 1_000_000_000n;
  }
  return {
    timestamp: now,
    usageCoreNanoSeconds: { value: nanoSeconds },
    usageNanoCores: { value: nanoCores },
    psi: undefined,
  };
}

function memoryUsage(deps: UsageDeps, containers: readonly FakeContainer[]): MemoryUsage {
  const bytes = containers.reduce((sum, container) => sum + deps.usage.of(container).memoryBytes, 0n);
  return {
    timestamp: deps.state.stamp(),
    workingSetBytes: { value: bytes },
    availableBytes: { value: 0n },
    usageBytes: { value: bytes },
    rssBytes: { value: bytes },
    pageFaults: { value: 0n },
    majorPageFaults: { value: 0n },
    psi: undefined,
  };
}

function containerStats(deps: UsageDeps, container: FakeContainer): ContainerStats {
  const { metadata, labels, annotations } = container.config;
  return {
    attributes: { id: container.id, metadata, labels, annotations },
    cpu: cpuUsage(deps, [container]),
    memory: memoryUsage(deps, [container]),
    writableLayer: {
      timestamp: deps.state.stamp(),
      fsId: { mountpoint: deps.imageFilesystem },
      usedBytes: { value: deps.usage.of(container).writableLayerBytes },
      inodesUsed: { value: 10n },
    },
    swap: undefined,
    io: undefined,
  };
}

function sandboxStats(deps: UsageDeps, sandbox: FakeSandbox): PodSandboxStats {
  const { metadata, labels, annotations } = sandbox.config;
  const containers = runningContainers(deps.state).filter((container) => container.sandboxId === sandbox.id);
  const none = { value: 0n };
  const timestamp = deps.state.stamp();
  return {
    attributes: { id: sandbox.id, metadata, labels, annotations },
    linux: {
      cpu: cpuUsage(deps, containers),
      memory: memoryUsage(deps, containers),
      network: {
        timestamp,
        defaultInterface: { name: 'eth0', rxBytes: none, rxErrors: none, txBytes: none, txErrors: none },
        interfaces: [],
      },
      process: { timestamp, processCount: { value: BigInt(containers.length + 1) } },
      containers: containers.map((container) => containerStats(deps, container)),
      io: undefined,
    },
  };
}

function sandboxMetrics(deps: UsageDeps, sandbox: FakeSandbox): PodSandboxMetrics {
  const containers = runningContainers(deps.state).filter((container) => container.sandboxId === sandbox.id);
  const sample = (id: string, name: string, of: readonly FakeContainer[]): Metric => ({
    name: memoryMetric.name,
    timestamp: deps.state.stamp(),
    metricType: MetricType.GAUGE,
    labelValues: [id, name],
    value: memoryUsage(deps, of).workingSetBytes,
  });
  return {
    podSandboxId: sandbox.id,
    metrics: [sample(sandbox.id, sandbox.config.metadata?.name ?? '', containers)],
    containerMetrics: containers.map((container) => ({
      containerId: container.id,
      metrics: [sample(container.id, container.config.metadata?.name ?? '', [container])],
    })),
  };
}
