import type { Pod, PodCondition, PodStatus } from '../../gen/kubernetes/types.ts';
import { isOwnCondition, isTerminalPhase, podConditions } from '../../model/reasons.ts';

/** Fields that others write; whatever the API server has there stays. */
const foreignFields = ['nominatedNodeName', 'resourceClaimStatuses', 'extendedResourceClaimStatus'] as const;

/**
 * The status for the API server: the agent's own fields and conditions, and those of other writers. A terminal phase that
 * the server has is never taken back, and the disruption condition of a pod is published with its end.
 */
export function composeApiStatus(api: PodStatus, ours: PodStatus): PodStatus {
  const ended = isTerminalPhase(api.phase) && !isTerminalPhase(ours.phase);
  const { phase, reason, message, conditions = [], ...rest } = ours;
  const outcome = ended ? api : { phase, reason, message };
  const foreign = Object.fromEntries(foreignFields.map((name) => [name, api[name]]));
  const all = [...foreignConditions(api, ours), ...conditions.filter(({ type }) => isOwnCondition(type))];
  return {
    ...rest,
    ...present(foreign),
    ...present({ phase: outcome.phase, reason: outcome.reason, message: outcome.message }),
    // The server keeps no empty list: where it has none, one would differ from what it has for ever.
    ...((all.length > 0 || api.conditions !== undefined) && { conditions: all }),
  };
}

function foreignConditions(api: PodStatus, ours: PodStatus): readonly PodCondition[] {
  const isDisruption = ({ type }: PodCondition): boolean => type === podConditions.disruptionTarget;
  const kept = (api.conditions ?? []).filter(({ type }) => !isOwnCondition(type));
  const disruption = isTerminalPhase(ours.phase) ? ours.conditions?.find(isDisruption) : undefined;
  return disruption === undefined ? kept : [...kept.filter((condition) => !isDisruption(condition)), disruption];
}

/**
 * The API copy without the nulls that the server writes for unset times: in a patch they would mean that the agent wants
 * the fields removed.
 */
export function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutNulls) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(entries.map(([name, field]) => [name, withoutNulls(field)])) as T;
}

/** What the API server answered to the last write, and when. */
export interface LastAnswer {
  readonly pod: Pod;
  readonly atMs: number;
}

/** A watch may lag behind the server's own answers this long; after that the watched copy counts, even if it is older. */
const watchLagMs = 10_000;

/** The newer of two copies. Versions of a server that was set back compare wrongly, but not for long. */
export function newestCopy(watched: Pod, answered: LastAnswer | undefined, nowMs: number): Pod {
  if (answered === undefined || nowMs - answered.atMs > watchLagMs) return watched;
  if (answered.pod.metadata?.uid !== watched.metadata?.uid) return watched;
  return versionOf(watched) >= versionOf(answered.pod) ? watched : answered.pod;
}

function versionOf({ metadata }: Pod): bigint {
  const version = metadata?.resourceVersion ?? '';
  return /^\d+$/.test(version) ? BigInt(version) : 0n;
}

/** The fields that are there. */
function present(fields: { readonly [Name in keyof PodStatus]?: PodStatus[Name] | undefined }): PodStatus {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
