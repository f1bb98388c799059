import { apiTime } from '../model/api-time.ts';
import type { ContainerStats, NodeStats, PodStats, Summary } from '../model/stats-summary.ts';
import type { CgroupUsage } from '../model/usage.ts';
import type { ContainerSample, CoreSample, PodSample, Sample, SystemSample } from './sampler.ts';
import type { PodExtras, SummaryExtras, SummaryNode } from './summary-input.ts';
import { podStorage, type ContainerStorage } from './summary-storage.ts';
import {
  cpuStats,
  filesystemStats,
  ioStats,
  memoryStats,
  networkStats,
  swapStats,
  type PsiChoice,
} from './summary-parts.ts';

/** Without extras it is the summary of CPU and memory alone. */
export function buildSummary(sample: CoreSample, node: SummaryNode, extras?: SummaryExtras): Summary {
  const pods = sample.pods.map((pod, index) => podStats(pod, extras?.pods[index], node, extras));
  return { node: nodeStats(sample, node, extras), pods };
}

function nodeStats({ node: own, system }: CoreSample, node: SummaryNode, extras: SummaryExtras | undefined): NodeStats {
  const psi: PsiChoice = node.pressure ? 'always' : 'never';
  const time = apiTime(own?.usage.at ?? 0);
  const services = system.map((service) => systemStats(service, psi, extras !== undefined));
  return {
    nodeName: node.name,
    systemContainers: services.length > 0 ? services : undefined,
    startTime: apiTime(node.bootedAt),
    cpu: own && cpuStats(own, time, psi),
    memory: own && memoryStats(own.usage, time, psi, node.memoryBytes),
    io: own && extras && ioStats(own.usage, time, psi),
    ...(extras && machineStats(extras)),
    swap: own && swapStats(own.usage, time, node.swapFree),
  };
}

function machineStats(extras: SummaryExtras): Partial<NodeStats> {
  const { rootFs, runtime, threads } = extras;
  const time = apiTime(extras.at);
  const imageFs = runtime?.imageFs && filesystemStats(runtime.imageFs);
  const containerFs = runtime?.containerFs && filesystemStats(runtime.containerFs);
  return {
    network: networkStats(extras.network, time),
    fs: rootFs && filesystemStats(rootFs),
    runtime: { imageFs, containerFs },
    rlimit: { time, maxpid: threads.max, curproc: threads.current },
  };
}

function systemStats(sample: SystemSample, psi: PsiChoice, whole: boolean): ContainerStats {
  const { usage, target, createdAt } = sample;
  const time = apiTime(usage.at);
  return {
    name: target.name,
    startTime: apiTime(createdAt ?? 0),
    cpu: cpuStats(sample, time, psi),
    memory: memoryStats(usage, time, psi, usage.limits.memory),
    io: whole ? ioStats(usage, time, psi) : undefined,
    swap: swapStats(usage, time, undefined),
  };
}

function podStats(
  { target, own, containers }: PodSample,
  more: PodExtras | undefined,
  node: SummaryNode,
  extras: SummaryExtras | undefined,
): PodStats {
  const psi: PsiChoice = node.pressure ? 'always' : 'never';
  const storage = more && extras && podStorage(containers, more, extras);
  const whole = own ?? sumOf(containers);
  const time = apiTime(whole?.usage.at ?? 0);
  const containersOf: ContainerStats[] = [];
  for (const [index, container] of containers.entries()) {
    containersOf.push(containerStats(container, storage?.containers[index], node));
  }
  return {
    podRef: { name: target.name, namespace: target.namespace, uid: target.uid },
    startTime: apiTime(target.startedAt),
    containers: containersOf,
    cpu: whole && cpuStats(whole, time, psi),
    memory: whole && memoryStats(whole.usage, time, psi, whole.usage.limits.memory),
    io: whole && extras && ioStats(whole.usage, time, psi),
    network: more?.network && networkStats(more.network, apiTime(extras?.at ?? 0)),
    volume: storage?.pod.volume,
    'ephemeral-storage': storage?.pod['ephemeral-storage'],
    process_stats: more && containers.length > 0 ? { process_count: more.processes } : undefined,
    swap: whole && swapStats(whole.usage, time, undefined),
  };
}

function containerStats(
  sample: ContainerSample,
  storage: ContainerStorage | undefined,
  node: SummaryNode,
): ContainerStats {
  const { usage, target } = sample;
  // Only the kernel counts the pressure of containers.
  const psi: PsiChoice = node.pressure ? 'known' : 'never';
  const time = apiTime(usage.at);
  return {
    name: target.name,
    startTime: apiTime(target.createdAt),
    cpu: cpuStats(sample, time, psi),
    memory: memoryStats(usage, time, psi, usage.limits.memory),
    io: storage && ioStats(usage, time, psi),
    rootfs: storage?.rootfs,
    logs: storage?.logs,
    swap: swapStats(usage, time, swapLeft(usage, node)),
  };
}

/** Up to its own limit, and no more than the machine has. */
function swapLeft({ limits, memory }: CgroupUsage, { swapFree }: SummaryNode): number {
  if (limits.memorySwap === undefined) return swapFree;
  return Math.min(Math.max(limits.memorySwap - (memory?.swap ?? 0), 0), swapFree);
}

/** Where a pod has no cgroup of its own, it uses what its containers use, and has no limit or pressure as a whole. */
function sumOf(containers: readonly ContainerSample[]): Sample | undefined {
  const [first, ...others] = containers;
  if (first === undefined) return undefined;
  return others.reduce<Sample>(together, {
    ...first,
    usage: { ...first.usage, pressure: {}, limits: { ...first.usage.limits, memory: undefined } },
  });
}

function together(sum: Sample, { usage, nanoCores }: Sample): Sample {
  const { cpu, memory } = sum.usage;
  return {
    nanoCores: sum.nanoCores + nanoCores,
    usage: {
      ...sum.usage,
      at: Math.max(sum.usage.at, usage.at),
      cpu: cpu && { ...cpu, totalNs: cpu.totalNs + (usage.cpu?.totalNs ?? 0) },
      memory: memory && {
        ...memory,
        usage: memory.usage + (usage.memory?.usage ?? 0),
        workingSet: memory.workingSet + (usage.memory?.workingSet ?? 0),
        rss: memory.rss + (usage.memory?.rss ?? 0),
        swap: memory.swap + (usage.memory?.swap ?? 0),
      },
    },
  };
}
