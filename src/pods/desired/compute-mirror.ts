import type { Node, Pod } from '../../gen/kubernetes/types.ts';
import { configAnnotations } from '../../model/annotations.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { isTerminalPhase } from '../../model/reasons.ts';
import { mirrors } from './mirror-pods.ts';

/** This node as the API server knows it. */
export interface NodeIdentity {
  readonly name: string;
  readonly uid: string;
  readonly deleting: boolean;
}

export function nodeIdentity(node: Node | undefined): NodeIdentity | undefined {
  const { name, uid, deletionTimestamp } = node?.metadata ?? {};
  if (name === undefined || uid === undefined) return undefined;
  return { name, uid, deleting: deletionTimestamp !== undefined };
}

export interface MirrorInput {
  /** The static pod to mirror under this name: none, or the one that may run now. */
  readonly pod: DesiredPod | undefined;
  readonly mirror: Pod | undefined;
  /** The agent knows that the pod has not ended, or that it runs again. */
  readonly hasNotEnded: boolean;
  /** A life of the pod has ended, and another is to begin: the end is not reported. */
  readonly isBetweenLives: boolean;
  readonly node: NodeIdentity | undefined;
  /** A static pod of that name has not finished: its mirror pod shows it until then. */
  readonly isNameTaken: boolean;
  /** All sources have been read, so that a mirror pod without a static pod is known to be a leftover. */
  readonly sourcesReady: boolean;
}

interface MirrorAction {
  readonly reason: string;
  /** The uid of the mirror pod to delete. */
  readonly remove?: string;
  readonly create?: Pod;
}

/** What to do about the mirror pod of one full name; undefined when it is as it should be. */
export function computeMirrorAction({
  pod,
  mirror,
  hasNotEnded,
  isBetweenLives,
  node,
  isNameTaken,
  sourcesReady,
}: MirrorInput): MirrorAction | undefined {
  const uid = mirror?.metadata?.uid;
  const remove = uid === undefined ? {} : { remove: uid };
  if (pod === undefined) {
    if (mirror === undefined || isNameTaken || !sourcesReady) return undefined;
    return { reason: 'its static pod was removed', ...remove };
  }
  // Without the node a mirror pod has no owner, and the API server would refuse it; with a node that is being deleted it
  // would be deleted too.
  if (node === undefined || node.deleting) return undefined;
  if (mirror === undefined) return { reason: 'there is none', create: mirrorOf(pod, node) };
  if (mirror.metadata?.deletionTimestamp !== undefined) {
    return { reason: 'it is being deleted, though its pod runs', ...remove, create: mirrorOf(pod, node) };
  }
  if (!mirrors(mirror, pod)) return { reason: 'it shows an older pod', ...remove, create: mirrorOf(pod, node) };
  // A pod that came back under its uid: the API server never lets a terminal phase change.
  if (hasNotEnded && isTerminalPhase(mirror.status?.phase)) {
    return { reason: 'it shows the end of a former life', ...remove, create: mirrorOf(pod, node) };
  }
  if (isBetweenLives && (mirror.status?.containerStatuses ?? []).length > 0) {
    return { reason: 'it shows the containers of a former life', ...remove, create: mirrorOf(pod, node) };
  }
  return undefined;
}

/** The object that shows a static pod to the cluster. */
export function mirrorOf(pod: DesiredPod, node: NodeIdentity): Pod {
  const { uid: _, resourceVersion: __, ...metadata } = pod.metadata;
  const hash = metadata.annotations?.[configAnnotations.hash] ?? pod.uid;
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      ...metadata,
      annotations: { ...metadata.annotations, [configAnnotations.mirror]: hash },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid, controller: true }],
    },
    spec: pod.spec,
  };
}
