import type { PersistentVolume, PersistentVolumeClaim } from '../../gen/kubernetes/types.ts';
import { Quantity } from '../../model/quantity.ts';

/** `allocatedResourceStatuses` of a claim, as the cluster's resizer and nodes set it. */
export const resizeStatuses = {
  pending: 'NodeResizePending',
  inProgress: 'NodeResizeInProgress',
  infeasible: 'NodeResizeInfeasible',
} as const;

/**
 * What is to be done about a volume's size.
 *
 *   none      it is as large as it should be, or the resizer has to act first
 *   readOnly  it should grow, and this pod may not write to it
 *   expand    the driver is to make it that large
 */
export type ExpandDecision =
  | { readonly act: 'none' }
  | { readonly act: 'readOnly'; readonly size: Quantity }
  | { readonly act: 'expand'; readonly size: Quantity; readonly record: ExpandRecord };

/**
 * When the claim's status is written: at the begin and the end; only at the end, where an older resizer keeps no resize
 * status; or never, because another node has written it already (a shared volume is expanded on each of its nodes).
 */
type ExpandRecord = 'begin and end' | 'end' | 'none';

interface ExpandInput {
  readonly claim: PersistentVolumeClaim;
  readonly volume: PersistentVolume;
  readonly readOnly: boolean;
  /** The size of the PersistentVolume at the last expansion here; unset while it is being mounted. */
  readonly before?: Quantity | undefined;
}

const none: ExpandDecision = { act: 'none' };

/** Pure. The claim's status has the size that was reached, the PersistentVolume the size that is wanted. */
export function decideExpansion({ claim, volume, readOnly, before }: ExpandInput): ExpandDecision {
  const wanted = storageOf(volume.spec?.capacity);
  if (wanted === undefined) return none;
  const { allocatedResources, allocatedResourceStatuses, capacity } = claim.status ?? {};
  const sure = storageOf(capacity) ?? Quantity.zero;
  const isShort = sure.compare(wanted) < 0 || (before !== undefined && before.compare(wanted) < 0);
  if (!isShort) return none;
  if (readOnly) return { act: 'readOnly', size: wanted };

  const status = allocatedResourceStatuses?.['storage'] ?? '';
  const isOlderResizer = status === '' && allocatedResources === undefined;
  if (isOlderResizer) return { act: 'expand', size: wanted, record: sure.compare(wanted) < 0 ? 'end' : 'none' };

  // While it is in use, the allocated size counts: the PersistentVolume may be on its way to another size.
  const size = (before === undefined ? undefined : storageOf(allocatedResources)) ?? wanted;
  if (status === '') return sure.compare(size) >= 0 ? { act: 'expand', size, record: 'none' } : none;
  const isOurTurn = status === resizeStatuses.pending || status === resizeStatuses.inProgress;
  return isOurTurn ? { act: 'expand', size, record: 'begin and end' } : none;
}

export function storageOf(resources: Readonly<Record<string, string>> | undefined): Quantity | undefined {
  const text = resources?.['storage'];
  return text === undefined ? undefined : Quantity.parse(text);
}

/** What a driver's refusal means for the claim and for the pod. */
export interface ExpandFailure {
  /** The driver's error is final: it is written to the claim's status. */
  readonly isFinal: boolean;
  /** A retry cannot succeed: the claim must request another size. */
  readonly isInfeasible: boolean;
  /** Not while the volume is in use here; it serves the pod as it is. */
  readonly isInUse: boolean;
}

const infeasibleCodes: ReadonlySet<string> = new Set(['InvalidArgument', 'OutOfRange', 'NotFound']);

/** `changedMind`: the claim asks for another size by now, and it is not the first time that the driver refuses. */
export function classifyFailure(
  code: string | undefined,
  isUncertain: boolean,
  { changedMind }: { readonly changedMind: boolean },
): ExpandFailure {
  const isFinal = !isUncertain;
  return {
    isFinal,
    isInfeasible: isFinal && (infeasibleCodes.has(code ?? '') || changedMind),
    isInUse: code === 'FailedPrecondition',
  };
}
