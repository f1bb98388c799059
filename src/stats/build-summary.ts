import type { ContainerStats, NodeStats, PodStats, Summary } from '../model/stats-summary.ts';
import type { CgroupUsage } from '../model/usage.ts';
import type { ContainerSample, CoreSample, PodSample, Sample, SystemSample } from './sampler.ts';
import type { SummaryExtras, SummaryNode } from './summary-input.ts';
import { podStorage, storageStats, type PodStorage } from './summary-storage.ts';
import {
  cpuStats,
  filesystemStats,
  ioStats,
  memoryStats,
  networkStats,
  swapStats,
  timeTexts,
  type PsiChoice,
  type TimeText,
} from './summary-parts.ts';

/** Without extras it is the summary of CPU and memory alone. */
export function buildSummary(sample: CoreSample, node: SummaryNode, extras?: SummaryExtras): Summary {
  const timeText = timeTexts();
  return {
    node: nodeStats(sample, node, extras, timeText),
    pods: sample.pods.map((pod) => podStats(pod, node, extras, timeText)),
  };
}

function nodeStats(
  { node: own, system }: CoreSample,
  node: SummaryNode,
  extras: SummaryExtras | undefined,
  timeText: TimeText,
): NodeStats {
  const psi: PsiChoice = node.pressure ? 'always' : 'never';
  const time = timeText(own?.usage.at ?? 0);
  const services = system.map((service) => systemStats(service, psi, extras !== undefined, timeText));
  return {
    nodeName: node.name,
    ...(services.length > 0 && { systemContainers: services }),
    startTime: timeText(node.bootedAt),
    ...(own && {
      cpu: cpuStats(own, time, psi),
      memory: memoryStats(own.usage, time, psi, node.memoryBytes),
      ...(extras && { io: ioStats(own.usage, time, psi) }),
    }),
    ...(extras && machineStats(extras, timeText)),
    ...(own && { swap: swapStats(own.usage, time, node.swapFree) }),
  };
}

function machineStats(extras: SummaryExtras, timeText: TimeText): Partial<NodeStats> {
  const { rootFs, runtime, threads } = extras;
  const time = timeText(extras.at);
  const imageFs = runtime?.imageFs && filesystemStats(runtime.imageFs, timeText);
  const containerFs = runtime?.containerFs && filesystemStats(runtime.containerFs, timeText);
  return {
    network: networkStats(extras.network, time),
    ...(rootFs && { fs: filesystemStats(rootFs, timeText) }),
    runtime: { ...(imageFs && { imageFs }), ...(containerFs && { containerFs }) },
    rlimit: {
      time,
      ...(threads.most !== undefined && { maxpid: threads.most }),
      ...(threads.now !== undefined && { curproc: threads.now }),
    },
  };
}

function systemStats(sample: SystemSample, psi: PsiChoice, whole: boolean, timeText: TimeText): ContainerStats {
  const { usage, target, createdAt } = sample;
  const time = timeText(usage.at);
  return {
    name: target.name,
    startTime: timeText(createdAt ?? 0),
    cpu: cpuStats(sample, time, psi),
    memory: memoryStats(usage, time, psi, usage.limits.memory),
    ...(whole && { io: ioStats(usage, time, psi) }),
    swap: swapStats(usage, time, undefined),
  };
}

function podStats(
  { target, own, containers }: PodSample,
  node: SummaryNode,
  extras: SummaryExtras | undefined,
  timeText: TimeText,
): PodStats {
  const psi: PsiChoice = node.pressure ? 'always' : 'never';
  const more = extras?.pods.get(target.uid);
  const storage = more && extras && podStorage(containers, more, extras, timeText);
  const whole = own ?? sumOf(containers);
  const time = timeText(whole?.usage.at ?? 0);
  return {
    podRef: { name: target.name, namespace: target.namespace, uid: target.uid },
    startTime: timeText(target.startedAt),
    containers: containers.map((container) => containerStats(container, node, storage, timeText)),
    ...(whole && {
      cpu: cpuStats(whole, time, psi),
      memory: memoryStats(whole.usage, time, psi, whole.usage.limits.memory),
      ...(extras && { io: ioStats(whole.usage, time, psi) }),
    }),
    ...(more?.network && { network: networkStats(more.network, timeText(extras?.at ?? 0)) }),
    ...(storage && storage.pod),
    ...(more && containers.length > 0 && { process_stats: { process_count: more.processes } }),
    ...(whole && { swap: swapStats(whole.usage, time, undefined) }),
  };
}

function containerStats(
  sample: ContainerSample,
  node: SummaryNode,
  storage: PodStorage | undefined,
  timeText: TimeText,
): ContainerStats {
  const { usage, target } = sample;
  // The kernel counts pressure for containers, or nobody does.
  const psi: PsiChoice = node.pressure ? 'known' : 'never';
  const time = timeText(usage.at);
  return {
    name: target.name,
    startTime: timeText(target.createdAt),
    cpu: cpuStats(sample, time, psi),
    memory: memoryStats(usage, time, psi, usage.limits.memory),
    ...(storage && { io: ioStats(usage, time, psi), ...storageStats(storage, target) }),
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
