import type { PodSpec } from '../../gen/kubernetes/types.ts';
import type { CgroupValues } from '../../model/cgroup-values.ts';
import { milliCpuToQuota, milliCpuToShares, minShares } from '../../model/cpu.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { pageSizeText } from '../../model/linux-resources.ts';
import { isHugePages } from '../../model/pod-resource-totals.ts';
import { podLimits, podRequests, type ResourceTotals } from '../../model/pod-resources.ts';
import { podQos } from '../../model/qos.ts';
import { Quantity } from '../../model/quantity.ts';

export interface PodCgroupSettings {
  /** Whether CPU limits are enforced at all. */
  readonly cpuCfsQuota: boolean;
  readonly cpuPeriodUs: bigint;
  /** The maximum of processes of a pod; no limit unless above zero. */
  readonly podPidsLimit: number;
  /** Protects the requested memory (version 2 only). */
  readonly memoryQos: boolean;
  /** Page sizes the kernel offers, written `2MB`. */
  readonly hugePageSizes: readonly string[];
}

const noQuota = -1n;

/**
 * What the cgroup of a whole pod allows. A limit of the pod is the sum of its containers' limits, so it exists only when
 * each of them has one, or when the pod itself has one; the pod's runtime overhead is added.
 */
export function podCgroupValues(
  pod: DesiredPod,
  settings: PodCgroupSettings,
  { withoutCpuQuota = false }: { readonly withoutCpuQuota?: boolean } = {},
): CgroupValues {
  const requests = podRequests(pod.spec, { overhead: true });
  return {
    ...cpuAndMemory(pod, requests, settings, withoutCpuQuota),
    ...(settings.podPidsLimit > 0 && { pids: BigInt(settings.podPidsLimit) }),
    hugePages: hugePageLimits(requests, settings.hugePageSizes),
    ...(settings.memoryQos && protectedMemory(valueOf(requests, 'memory'))),
  };
}

function cpuAndMemory(
  pod: DesiredPod,
  requests: ResourceTotals,
  settings: PodCgroupSettings,
  withoutCpuQuota: boolean,
): CgroupValues {
  const qos = podQos(pod);
  if (qos === 'BestEffort') return { cpuShares: minShares };
  const limits = podLimits(pod.spec, { overhead: true });
  const enforced = settings.cpuCfsQuota && !withoutCpuQuota;
  const { cpuPeriodUs } = settings;
  const quota = milliCpuToQuota(limits.get('cpu')?.milliValue() ?? 0n, cpuPeriodUs);
  const limited = (resource: string): boolean => qos === 'Guaranteed' || isLimited(pod.spec, resource);
  return {
    cpuShares: milliCpuToShares(requests.get('cpu')?.milliValue() ?? 0n),
    ...(limited('cpu') && { cpuPeriodUs, cpuQuotaUs: enforced ? quota : noQuota }),
    ...(limited('memory') && { memoryBytes: valueOf(limits, 'memory') }),
  };
}

/**
 * Whether the pod's limit of a resource covers all its containers. An init container counts together with the sidecars that
 * run beside it, so behind a limited sidecar it need not have a limit of its own.
 */
function isLimited({ containers, initContainers = [], resources }: PodSpec, resource: string): boolean {
  if (isPositive(resources?.limits?.[resource])) return true;
  if (!containers.every((container) => isPositive(container.resources?.limits?.[resource]))) return false;
  let besideLimited = false;
  for (const container of initContainers) {
    const own = isPositive(container.resources?.limits?.[resource]);
    if (!own && !besideLimited) return false;
    besideLimited ||= own && container.restartPolicy === 'Always';
  }
  return true;
}

/** Huge pages cannot be overcommitted: the request is the limit, and the limit of sizes without a request is zero. */
export function hugePageLimits(amounts: ResourceTotals, sizes: readonly string[]): ReadonlyMap<string, bigint> {
  const asked = [...amounts].filter(([name]) => isHugePages(name));
  return new Map([
    ...sizes.map((size) => [size, 0n] as const),
    ...asked.map(([name, amount]) => [pageSizeText(name), amount.value()] as const),
  ]);
}

export function protectedMemory(bytes: bigint): CgroupValues {
  return bytes > 0n ? { unified: { 'memory.min': String(bytes) } } : {};
}

const valueOf = (amounts: ResourceTotals, name: string): bigint => amounts.get(name)?.value() ?? 0n;
const isPositive = (text: string | undefined): boolean => text !== undefined && Quantity.parse(text).sign() > 0;
