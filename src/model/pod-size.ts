import type { Pod, PodStatus } from '../gen/kubernetes/types.ts';
import { configAnnotations } from './annotations.ts';
import { isTerminalPhase } from './reasons.ts';

/**
 * The maximum memory of one pod in the agent: its texts, and a share for each value. The API accepts three times as much;
 * a usual pod has a fiftieth. So all pods of a node stay below a hundred megabytes together.
 */
export const maxPodBytes = 512 * 1024;
const valueBytes = 32;
const maxStatusBytes = 64 * 1024;

/** Annotation of the remains of a pod that is too large: its size. */
export const tooLargeAnnotation = 'tubelet/too-large';

/** The approximate memory of a value; counting ends above the limit. */
export function sizeOf(root: unknown, limit: number = maxPodBytes): number {
  const waiting: unknown[] = [root];
  let size = 0;
  while (waiting.length > 0 && size <= limit) {
    const value = waiting.pop();
    size += valueBytes;
    if (typeof value === 'string') size += value.length;
    else if (Array.isArray(value)) for (const item of value as readonly unknown[]) waiting.push(item);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        size += key.length;
        waiting.push(item);
      }
    }
  }
  return size;
}

/** Whether a pod is too large to run on this node, also by the annotation of its remains. */
export function isPodTooLarge({ metadata, spec }: Pod): boolean {
  return metadata?.annotations?.[tooLargeAnnotation] !== undefined || sizeOf({ metadata, spec }) > maxPodBytes;
}

/**
 * What is kept of a pod of the API server. Of one that is too large only what its rejection and removal need; one that
 * runs keeps the definition it was admitted with, and an update that makes it too large is ignored.
 */
export function boundedPod(pod: Pod, previous: Pod | undefined, onIgnored: (pod: Pod) => void = () => {}): Pod {
  const size = sizeOf({ metadata: pod.metadata, spec: pod.spec });
  if (size <= maxPodBytes) return pod;
  const { phase, startTime } = pod.status ?? {};
  if (startTime === undefined || isTerminalPhase(phase)) return remainsOf(pod, size);
  // An earlier run of the agent admitted the pod, and its former definition is not known.
  if (previous === undefined) return pod;
  onIgnored(pod);
  return { ...previous, metadata: { ...previous.metadata, ...identityOf(pod) }, status: statusOf(pod) };
}

function remainsOf(pod: Pod, size: number): Pod {
  const { restartPolicy, terminationGracePeriodSeconds, nodeName } = pod.spec ?? {};
  const own: Record<string, string> = { [tooLargeAnnotation]: String(size) };
  for (const key of Object.values(configAnnotations)) {
    const value = pod.metadata?.annotations?.[key];
    if (value !== undefined) own[key] = value.slice(0, 1_024);
  }
  return {
    ...(pod.apiVersion !== undefined && { apiVersion: pod.apiVersion }),
    ...(pod.kind !== undefined && { kind: pod.kind }),
    metadata: { ...identityOf(pod), annotations: own },
    spec: {
      containers: [],
      ...(nodeName !== undefined && { nodeName }),
      ...(restartPolicy !== undefined && { restartPolicy }),
      ...(terminationGracePeriodSeconds !== undefined && { terminationGracePeriodSeconds }),
    },
    status: statusOf(pod),
  };
}

function identityOf({ metadata = {} }: Pod): NonNullable<Pod['metadata']> {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  return {
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
  };
}

function statusOf({ status = {} }: Pod): PodStatus {
  if (sizeOf(status, maxStatusBytes) <= maxStatusBytes) return status;
  const { phase, reason, startTime } = status;
  return {
    ...(phase !== undefined && { phase }),
    ...(reason !== undefined && { reason: reason.slice(0, 1_024) }),
    ...(startTime !== undefined && { startTime }),
  };
}
