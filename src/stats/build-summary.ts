import type { ContainerStats, NodeStats, PodStats, Summary } from '../model/stats-summary.ts';
import type { CgroupUsage } from '../model/usage.ts';
import type { ContainerSample, CoreSample, PodSample, Sample, SystemSample } from './sampler.ts';
import type { SummaryExtras, SummaryNode } from './summary-input.ts';
import { podStorage, type PodStorage } from './summary-storage.ts';
import {
  cpuStats,
  filesystemStats,
  ioStats,
  memoryStats,
  networkStats,
  swapStats,
  TimeTexts,
  type PsiChoice,
} from './summary-parts.ts';

/** Without extras it is the summary of CPU and memory alone. */
export function buildSummary(sample: CoreSample, node: SummaryNode, extras?: SummaryExtras): Summary {
  const times = new TimeTexts();
  const pods: PodStats[] = [];
  for (const pod of sample.pods) pods.push(podStats(pod, node, extras, times));
  return { node: nodeStats(sample, node, extras, times), pods };
}

function nodeStats(
  { node: own, system }: CoreSample,
  node: SummaryNode,
  extras: SummaryExtras | undefined,
  times: TimeTexts,
): NodeStats {
  const psi: PsiChoice = node.pressure ? 'always' : 'never';
  const time = times.of(own?.usage.at ?? 0);
  const services = system.map((service) => systemStats(service, psi, extras !== undefined, times));
  return {
    nodeName: node.name,
    systemContainers: services.length > 0 ? services : undefined,
    startTime: times.of(node.bootedAt),
    cpu: own && cpuStats(own, time, psi),
    memory: own && memoryStats(own.usage, time, psi, node.memoryBytes),
    io: own && extras && ioStats(own.usage, time, psi),
    ...(extras && machineStats(extras, times)),
    swap: own && swapStats(own.usage, time, node.swapFree),
  };
}

function machineStats(extras: SummaryExtras, times: TimeTexts): Partial<NodeStats> {
  const { rootFs, runtime, threads } = extras;
  const time = times.of(extras.at);
  const imageFs = runtime?.imageFs && filesystemStats(runtime.imageFs, times);
  const containerFs = runtime?.containerFs && filesystemStats(runtime.containerFs, times);
  return {
    network: networkStats(extras.network, time),
    fs: rootFs && filesystemStats(rootFs, times),
    runtime: { imageFs, containerFs },
    rlimit: { time, maxpid: threads.most, curproc: threads.now },
  };
}

function systemStats(sample: SystemSample, psi: PsiChoice, whole: boolean, times: TimeTexts): ContainerStats {
  const { usage, target, createdAt } = sample;
  const time = times.of(usage.at);
  return {
    name: target.name,
    startTime: times.of(createdAt ?? 0),
    cpu: cpuStats(sample, time, psi),
    memory: memoryStats(usage, time, psi, usage.limits.memory),
    io: whole ? ioStats(usage, time, psi) : undefined,
    swap: swapStats(usage, time, undefined),
  };
}

function podStats(
  { target, own, containers }: PodSample,
  node: SummaryNode,
  extras: SummaryExtras | undefined,
  times: TimeTexts,
): PodStats {
  const psi: PsiChoice = node.pressure ? 'always' : 'never';
  const more = extras?.pods.get(target.uid);
  const storage = more && extras && podStorage(containers, more, extras, times);
  const whole = own ?? sumOf(containers);
  const time = times.of(whole?.usage.at ?? 0);
  const containersOf: ContainerStats[] = [];
  for (const container of containers) containersOf.push(containerStats(container, node, storage, times));
  return {
    podRef: { name: target.name, namespace: target.namespace, uid: target.uid },
    startTime: times.of(target.startedAt),
    containers: containersOf,
    cpu: whole && cpuStats(whole, time, psi),
    memory: whole && memoryStats(whole.usage, time, psi, whole.usage.limits.memory),
    io: whole && extras && ioStats(whole.usage, time, psi),
    network: more?.network && networkStats(more.network, times.of(extras?.at ?? 0)),
    volume: storage?.pod.volume,
    'ephemeral-storage': storage?.pod['ephemeral-storage'],
    process_stats: more && containers.length > 0 ? { process_count: more.processes } : undefined,
    swap: whole && swapStats(whole.usage, time, undefined),
  };
}

function containerStats(
  sample: ContainerSample,
  node: SummaryNode,
  storage: PodStorage | undefined,
  times: TimeTexts,
): ContainerStats {
  const { usage, target } = sample;
  // The kernel counts pressure for containers, or nobody does.
  const psi: PsiChoice = node.pressure ? 'known' : 'never';
  const time = times.of(usage.at);
  return {
    name: target.name,
    startTime: times.of(target.createdAt),
    cpu: cpuStats(sample, time, psi),
    memory: memoryStats(usage, time, psi, usage.limits.memory),
    io: storage && ioStats(usage, time, psi),
    rootfs: storage?.rootfs.get(target.id),
    logs: storage?.logs.get(target.name),
    swap: swapStats(usage, time, swapLeft(usage, node)),
  };
}

/** Up to its own limit, and no more than the machine has. */
function swapLeft({ limits, memory }: CgroupUsage, { swapFree }: SummaryNode): number {
  if (limits.memorySwap === undefined) return swapFree;
  return Math.min(Math.max(limits.memorySwap - (memory?.swap ?? 0), 0), swapFree);
}

/** Where a pod has no cgroup of its own, it uses what its containers use; nobody limits or presses it as a whole. */
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
