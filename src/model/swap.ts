import type { Container } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from './desired-pod.ts';
import { containerLimit, containerRequest } from './pod-resources.ts';
import { isCriticalPod, podQos } from './qos.ts';
import { Quantity } from './quantity.ts';
import type { NodeFacts, RuntimeSettings } from './runtime-settings.ts';

type SwapSettings = Pick<RuntimeSettings, 'cgroupVersion' | 'memorySwapBehavior' | 'swapControllerAvailable'>;

interface SwapResources {
  /** Memory and swap together; for version 1 only. */
  readonly limitBytes: bigint;
  readonly unified: Readonly<Record<string, string>>;
}

/** What a container may swap. Without a controller for swap nothing can be said about it. */
export function swapResources(
  pod: DesiredPod,
  container: Container,
  memoryLimitBytes: bigint,
  node: Pick<NodeFacts, 'memoryCapacityBytes' | 'swapCapacityBytes'>,
  settings: SwapSettings,
): SwapResources {
  if (!settings.swapControllerAvailable) return { limitBytes: 0n, unified: {} };
  // The same limit for memory and for both leaves no swap.
  if (settings.cgroupVersion === 1) return { limitBytes: memoryLimitBytes, unified: {} };
  const limited = swapBehavior(pod, container, settings) === 'LimitedSwap';
  const request = containerRequest(container, 'memory') ?? Quantity.zero;
  const bytes = limited ? (swapShare(request.value(), node) ?? 0n) : 0n;
  return { limitBytes: 0n, unified: { 'memory.swap.max': String(bytes) } };
}

/**
 * Only burstable pods swap that are not critical, and of their containers those that leave room between the request of
 * memory and its limit.
 */
export function swapBehavior(
  pod: DesiredPod,
  container: Container,
  settings: SwapSettings,
): RuntimeSettings['memorySwapBehavior'] {
  const { memorySwapBehavior, swapControllerAvailable, cgroupVersion } = settings;
  if (memorySwapBehavior === 'NoSwap' || !swapControllerAvailable || cgroupVersion === 1) return 'NoSwap';
  if (podQos(pod) !== 'Burstable' || isCriticalPod(pod)) return 'NoSwap';
  const request = containerRequest(container, 'memory') ?? Quantity.zero;
  const limit = containerLimit(container, 'memory') ?? Quantity.zero;
  return request.compare(limit) === 0 ? 'NoSwap' : 'LimitedSwap';
}

/** Of the node's swap the part that the request is of its memory; undefined for a request that has no such part. */
export function swapShare(
  requestBytes: bigint,
  { memoryCapacityBytes: memory, swapCapacityBytes }: Pick<NodeFacts, 'memoryCapacityBytes' | 'swapCapacityBytes'>,
): bigint | undefined {
  if (memory <= 0n || requestBytes > memory) return undefined;
  // With the rounding of floating point, so that another kubelet on this node would set the very same limit.
  return BigInt(Math.trunc((Number(requestBytes) / Number(memory)) * Number(swapCapacityBytes)));
}
