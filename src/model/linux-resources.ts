import { LinuxContainerResources, type HugepageLimit } from '../gen/cri/api.ts';
import type { Container, PodSpec } from '../gen/kubernetes/types.ts';
import { defaultCpuPeriodUs, milliCpuToQuota, milliCpuToShares } from './cpu.ts';
import type { DesiredPod } from './desired-pod.ts';
import { oomScoreAdjust } from './oom-score.ts';
import { isHugePages } from './pod-resource-totals.ts';
import { containerLimit, containerRequest, effectiveLimit, podLimits, podRequests } from './pod-resources.ts';
import { Quantity } from './quantity.ts';
import type { NodeFacts, RuntimeSettings } from './runtime-settings.ts';
import { swapResources } from './swap.ts';

/** The exclusive resources of a container, as the managers allocated them. */
export interface PinnedResources {
  readonly cpusetCpus?: string;
  readonly cpusetMems?: string;
  /** Exclusive CPUs need no quota. */
  readonly withoutCpuQuota?: boolean;
}

const pageBytes = 4096n;

/** The resources of a pod as a whole, passed to the runtime with the sandbox. */
export function sandboxResources(spec: PodSpec, settings: RuntimeSettings): LinuxContainerResources {
  const limits = podLimits(spec, { overhead: false });
  return linuxResources(settings, {
    cpuRequest: podRequests(spec, { overhead: false }).get('cpu'),
    cpuLimit: limits.get('cpu') ?? Quantity.zero,
    memoryLimit: limits.get('memory') ?? Quantity.zero,
  });
}

/** The overhead of the sandbox, from its RuntimeClass. */
export function overheadResources(spec: PodSpec, settings: RuntimeSettings): LinuxContainerResources {
  if (spec.overhead === undefined) return LinuxContainerResources.fromPartial({});
  const cpu = Quantity.parse(spec.overhead['cpu'] ?? '0');
  const memory = Quantity.parse(spec.overhead['memory'] ?? '0');
  return linuxResources(settings, { cpuRequest: cpu, cpuLimit: cpu, memoryLimit: memory });
}

export function containerResources(
  pod: DesiredPod,
  container: Container,
  node: NodeFacts,
  settings: RuntimeSettings,
  pinned: PinnedResources = {},
): LinuxContainerResources {
  const base = linuxResources(settings, {
    cpuRequest: containerRequest(container, 'cpu'),
    cpuLimit: effectiveLimit(pod.spec, container, 'cpu'),
    memoryLimit: effectiveLimit(pod.spec, container, 'memory'),
    withoutCpuQuota: pinned.withoutCpuQuota === true,
  });
  const swap = swapResources(pod, container, base.memoryLimitInBytes, node, settings);
  return {
    ...base,
    oomScoreAdj: BigInt(oomScoreAdjust(pod, container, node.memoryCapacityBytes)),
    hugepageLimits: hugePageLimits(pod.spec, container, node.hugePageSizes),
    cpusetCpus: pinned.cpusetCpus ?? '',
    cpusetMems: pinned.cpusetMems ?? '',
    memorySwapLimitInBytes: swap.limitBytes,
    unified: { ...base.unified, ...swap.unified, ...memoryQos(container, node, settings) },
  };
}

interface Amounts {
  readonly cpuRequest: Quantity | undefined;
  readonly cpuLimit: Quantity;
  readonly memoryLimit: Quantity;
  readonly withoutCpuQuota?: boolean;
}

function linuxResources(settings: RuntimeSettings, amounts: Amounts): LinuxContainerResources {
  const custom = settings.featureGates('CustomCPUCFSQuotaPeriod');
  const cpuPeriod = custom ? BigInt(Math.round(settings.cpuCfsQuotaPeriodMs * 1000)) : defaultCpuPeriodUs;
  const cpuQuota = amounts.withoutCpuQuota ? -1n : milliCpuToQuota(amounts.cpuLimit.milliValue(), cpuPeriod);
  // A container with a CPU limit and no request requests all of the limit.
  const cpuShares = milliCpuToShares((amounts.cpuRequest ?? amounts.cpuLimit).milliValue());
  const killTogether = settings.cgroupVersion === 2 && !settings.singleProcessOomKill;
  return LinuxContainerResources.fromPartial({
    cpuShares,
    memoryLimitInBytes: amounts.memoryLimit.value(),
    ...(settings.cpuCfsQuota && { cpuPeriod, cpuQuota }),
    ...(killTogether && { unified: { 'memory.oom.group': '1' } }),
  });
}

/**
 * Every page size of the node gets a limit: that of the container, else that of the whole pod, else zero.
 */
function hugePageLimits(spec: PodSpec, container: Container, sizes: readonly string[]): HugepageLimit[] {
  const limits = new Map(
    Object.entries({ ...spec.resources?.limits, ...container.resources?.limits })
      .filter(([name]) => isHugePages(name))
      .map(([name, amount]) => [pageSizeText(name), Quantity.parse(amount).value()] as const),
  );
  return sizes.map((pageSize) => ({ pageSize, limit: limits.get(pageSize) ?? 0n }));
}

/** `hugepages-2Mi` → `2MB`, as the kernel names its files. */
export function pageSizeText(resource: string): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
  let size = Quantity.parse(resource.slice('hugepages-'.length)).value();
  let unit = 0;
  while (size >= 1024n && size % 1024n === 0n && unit < units.length - 1) {
    size /= 1024n;
    unit++;
  }
  return `${size}${units[unit] ?? ''}`;
}

/** Alpha: protects the requested memory, and throttles a container before it reaches its limit. */
function memoryQos(container: Container, node: NodeFacts, settings: RuntimeSettings): Readonly<Record<string, string>> {
  if (settings.cgroupVersion !== 2 || !settings.featureGates('MemoryQoS')) return {};
  const request = containerRequest(container, 'memory')?.value() ?? 0n;
  // The container's own limit: one of the whole pod does not limit any single container.
  const limit = containerLimit(container, 'memory')?.value() ?? 0n;
  const unified: Record<string, string> = {};
  if (request > 0n) unified['memory.min'] = String(request);
  if (request !== limit) {
    const ceiling = limit > 0n ? limit : Quantity.parse(node.allocatable['memory'] ?? '0').value();
    const room = BigInt(Math.floor(Number(ceiling - request) * settings.memoryThrottlingFactor));
    const high = ((request + room) / pageBytes) * pageBytes;
    if (high > request) unified['memory.high'] = String(high);
  }
  return unified;
}
