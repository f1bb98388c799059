import type { Lease } from '../../gen/kubernetes/types.ts';

export interface LeaseNode {
  readonly name: string;
  readonly uid: string;
}

interface LeaseInput {
  readonly nodeName: string;
  /** The Node object, once it is known: it owns the lease. */
  readonly node: LeaseNode | undefined;
  readonly durationSeconds: number;
  readonly nowMs: number;
}

export const leaseNamespace = 'kube-node-lease';

/** A lease renewed now, made from the existing one or from nothing. Fields of other writers stay. */
export function computeLease(known: Lease | undefined, input: LeaseInput): Lease {
  const { nodeName, node, durationSeconds, nowMs } = input;
  const owned = (known?.metadata?.ownerReferences?.length ?? 0) > 0;
  const owner = node && { apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid };
  return {
    ...known,
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: nodeName,
      namespace: leaseNamespace,
      ...known?.metadata,
      ...(!owned && owner && { ownerReferences: [owner] }),
    },
    spec: {
      ...known?.spec,
      holderIdentity: nodeName,
      leaseDurationSeconds: durationSeconds,
      renewTime: microTime(nowMs),
    },
  };
}

/** RFC 3339 with microseconds, as far as the clock has them. */
export function microTime(wallMs: number): string {
  const microseconds = String(Math.floor((wallMs % 1) * 1_000)).padStart(3, '0');
  return new Date(wallMs).toISOString().replace('Z', `${microseconds}Z`);
}
