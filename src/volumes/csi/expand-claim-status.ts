import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimCondition,
  PersistentVolumeClaimStatus,
} from '../../gen/kubernetes/types.ts';
import { createStrategicMergePatch } from '../../model/strategic-merge-patch.ts';
import { resizeStatuses } from './expand-decision.ts';

/** Conditions of a resize under way, which its end removes. Other conditions stay. */
const resizeConditions: ReadonlySet<string> = new Set([
  'Resizing',
  'FileSystemResizePending',
  'ControllerResizeError',
  'NodeResizeError',
]);

/** A strategic merge patch of a claim's status. */
export type ClaimPatch = Readonly<Record<string, unknown>>;

/** The node has begun. Conflicts where the claim has changed meanwhile. */
export function markInProgress(claim: PersistentVolumeClaim): ClaimPatch {
  return checked(claim, withStatus(claim, resizeStatuses.inProgress));
}

/** The volume has the size now. Conflicts where the claim has changed meanwhile. */
export function markFinished(claim: PersistentVolumeClaim, size: string): ClaimPatch {
  const { status = {} } = claim;
  const { storage: _, ...statuses } = status.allocatedResourceStatuses ?? {};
  const { allocatedResourceStatuses: __, ...rest } = status;
  return checked(claim, {
    ...rest,
    capacity: { ...status.capacity, storage: size },
    ...(status.conditions && { conditions: status.conditions.filter(({ type }) => !resizeConditions.has(type)) }),
    ...(Object.keys(statuses).length > 0 && { allocatedResourceStatuses: statuses }),
  });
}

/** Why the expansion failed, and whether a retry makes sense. Without a version: it is true whatever else has changed. */
export function markFailed(
  claim: PersistentVolumeClaim,
  { reason, isInfeasible, at }: { readonly reason: string; readonly isInfeasible: boolean; readonly at: string },
): ClaimPatch {
  const status = isInfeasible ? withStatus(claim, resizeStatuses.infeasible) : (claim.status ?? {});
  const error: PersistentVolumeClaimCondition = {
    type: 'NodeResizeError',
    status: 'True',
    lastTransitionTime: at,
    message: `failed to expand pvc with ${reason}`,
  };
  const conditions = status.conditions ?? [];
  const isKnown = conditions.some(({ type, status: value }) => type === error.type && value === error.status);
  const others = conditions.filter(({ type }) => type !== error.type);
  return change(claim, { ...status, conditions: isKnown ? conditions : [...others, error] });
}

function withStatus(claim: PersistentVolumeClaim, storage: string): PersistentVolumeClaimStatus {
  const { status = {} } = claim;
  return { ...status, allocatedResourceStatuses: { ...status.allocatedResourceStatuses, storage } };
}

function change(claim: PersistentVolumeClaim, status: PersistentVolumeClaimStatus): ClaimPatch {
  const before = { status: claim.status ?? {} };
  return createStrategicMergePatch(before, { status }, 'PersistentVolumeClaim');
}

/** With the version that it was made from, so that it does not overwrite a newer status. */
function checked(claim: PersistentVolumeClaim, status: PersistentVolumeClaimStatus): ClaimPatch {
  const resourceVersion = claim.metadata?.resourceVersion;
  return { ...change(claim, status), ...(resourceVersion !== undefined && { metadata: { resourceVersion } }) };
}
