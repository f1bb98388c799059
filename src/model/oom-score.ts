import type { Container, PodSpec } from '../gen/kubernetes/types.ts';
import { isRestartableInit } from './containers.ts';
import type { DesiredPod } from './desired-pod.ts';
import { aggregateResources } from './pod-resource-totals.ts';
import { containerRequest } from './pod-resources.ts';
import { Quantity } from './quantity.ts';
import { isNodeCriticalPod, podQos } from './qos.ts';

const guaranteedScore = -997;
const bestEffortScore = 1000;
/** The kernel kills any burstable container before a guaranteed one that fills the whole memory. */
const minBurstable = 1000 + guaranteedScore;
const maxBurstable = bestEffortScore - 1;

/**
 * The oom_score_adj of a container: the less of the node's memory a burstable container requests, the sooner the kernel
 * kills it.
 */
export function oomScoreAdjust(
  pod: Pick<DesiredPod, 'spec' | 'status' | 'source'>,
  container: Container,
  nodeMemoryBytes: bigint,
): number {
  if (isNodeCriticalPod(pod)) return guaranteedScore;
  const qos = podQos(pod);
  if (qos === 'Guaranteed') return guaranteedScore;
  if (qos === 'BestEffort') return bestEffortScore;
  const surplus = surplusPerContainer(pod.spec);
  const own = score(memoryOf(container) + surplus, nodeMemoryBytes);
  // A sidecar must not die before the containers it serves.
  const bound = isSidecar(pod.spec, container) ? score(minRegularRequest(pod.spec) + surplus, nodeMemoryBytes) : own;
  return Math.max(minBurstable, Math.min(own, bound, maxBurstable));
}

function score(memoryBytes: bigint, nodeMemoryBytes: bigint): number {
  return nodeMemoryBytes > 0n ? Number(1000n - (1000n * memoryBytes) / nodeMemoryBytes) : maxBurstable;
}

/** Pod-level requests beyond those of the containers are divided equally among them. */
function surplusPerContainer(spec: PodSpec): bigint {
  const wholePod = spec.resources?.requests?.['memory'];
  if (wholePod === undefined) return 0n;
  const requested = aggregateResources(spec, 'requests').get('memory') ?? Quantity.zero;
  const surplus = Quantity.parse(wholePod).sub(requested).value();
  return surplus / BigInt(Math.max(1, spec.containers.length + (spec.initContainers?.length ?? 0)));
}

function isSidecar(spec: PodSpec, container: Container): boolean {
  return (spec.initContainers ?? []).some((init) => init.name === container.name && isRestartableInit(init));
}

function minRegularRequest(spec: PodSpec): bigint {
  return spec.containers.map(memoryOf).reduce((least, bytes) => (bytes < least ? bytes : least));
}

function memoryOf(container: Container): bigint {
  return containerRequest(container, 'memory')?.value() ?? 0n;
}
