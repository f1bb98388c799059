import { podFullName, podUid, type PodFullName, type PodUid } from '../base/ids.ts';
import { TubeletError } from '../base/errors.ts';
import type { ObjectMeta, Pod, PodSpec, PodStatus } from '../gen/kubernetes/types.ts';

/** Where a pod's spec came from; also the value of the annotation `kubernetes.io/config.source`. */
export type PodSource = 'file' | 'http' | 'api';

/**
 * A pod as its source names it: identity complete, spec defaulted and validated. Only sources make it and only
 * pods/desired keeps it. It is frozen; a change arrives as a new value.
 */
export interface DesiredPod {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
  readonly fullName: PodFullName;
  readonly source: PodSource;
  readonly metadata: ObjectMeta;
  readonly spec: PodSpec;
  /** The status as the API server has it; for static pods the one the source made up. */
  readonly status: PodStatus;
}

/** Wraps a complete API object. Throws without uid, name or namespace: sources only pass on pods that have them. */
export function desiredPod(source: PodSource, pod: Pod): DesiredPod {
  const { metadata = {}, spec, status = {} } = pod;
  const { uid, name, namespace } = metadata;
  if (!uid || !name || !namespace || spec === undefined) {
    throw new TubeletError('invalid', `pod ${namespace ?? '?'}/${name ?? '?'} lacks a uid, name, namespace or spec`);
  }
  return Object.freeze({
    uid: podUid(uid),
    name,
    namespace,
    fullName: podFullName(name, namespace),
    source,
    metadata,
    spec,
    status,
  });
}

/** The API object of a desired pod, with another status where one is given. */
export function podObject(pod: DesiredPod, status: PodStatus = pod.status): Pod {
  return { kind: 'Pod', apiVersion: 'v1', metadata: pod.metadata, spec: pod.spec, status };
}

/** Static pods come from this node's own folder or URL; the API server only mirrors them. */
export function isStatic(pod: Pick<DesiredPod, 'source'>): boolean {
  return pod.source !== 'api';
}
