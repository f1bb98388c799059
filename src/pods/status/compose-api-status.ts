import type { Pod, PodCondition, PodStatus } from '../../gen/kubernetes/types.ts';
import { isOwnCondition, isTerminalPhase, podConditions } from '../../model/reasons.ts';

/** Fields that others write; whatever the API server has there stays. */
const foreignFields = ['nominatedNodeName', 'resourceClaimStatuses', 'extendedResourceClaimStatus'] as const;

/**
 * The status the API server shall have: the agent's word, and what others said. An end that the server knows is never
 * taken back, and the disruption of a pod is told with its end.
 */
export function composeApiStatus(api: PodStatus, ours: PodStatus): PodStatus {
  const ended = isTerminalPhase(api.phase) && !isTerminalPhase(ours.phase);
  const { phase, reason, message, conditions = [], ...rest } = ours;
  const word = ended ? api : { phase, reason, message };
  const foreign = Object.fromEntries(foreignFields.map((name) => [name, api[name]]));
  return {
    ...rest,
    ...present(foreign),
    ...present({ phase: word.phase, reason: word.reason, message: word.message }),
    conditions: [...foreignConditions(api, ours), ...conditions.filter(({ type }) => isOwnCondition(type))],
  };
}

function foreignConditions(api: PodStatus, ours: PodStatus): readonly PodCondition[] {
  const isDisruption = ({ type }: PodCondition): boolean => type === podConditions.disruptionTarget;
  const kept = (api.conditions ?? []).filter(({ type }) => !isOwnCondition(type));
  const told = isTerminalPhase(ours.phase) ? ours.conditions?.find(isDisruption) : undefined;
  return told === undefined ? kept : [...kept.filter((condition) => !isDisruption(condition)), told];
}

/**
 * The API copy without the nulls that it writes for times nobody set: to a patch they would look like fields that the
 * agent wants removed.
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

/** A watch may lag behind the server's own answers for a while; after that it is the truth, whatever it says. */
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
