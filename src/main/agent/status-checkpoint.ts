import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { podUid, type PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import { CheckpointFile, type CheckpointDisk } from '../../state/index.ts';

type Statuses = Readonly<Record<string, PodStatus>>;

const version = 1;

interface StatusCheckpointLocation {
  readonly clock: Clock;
  readonly log: Log;
  readonly disk: CheckpointDisk;
  readonly rootDir: string;
}

interface RememberedPods {
  readonly statuses: { all(): ReadonlyMap<PodUid, PodStatus> };
  readonly desired: { has(uid: PodUid): boolean };
  readonly lifecycles: { isRemovedFromSource(uid: PodUid): boolean };
}

/**
 * Statuses outlive the agent: a restart keeps start and transition times, and a ready container stays ready until a
 * probe reports otherwise.
 */
export function statusCheckpoint(place: StatusCheckpointLocation, pods: RememberedPods): CheckpointFile<Statuses> {
  const { statuses, desired, lifecycles } = pods;
  // The status of a pod that is being removed has no meaning for the next pod of its uid.
  const isKept = (uid: PodUid): boolean => desired.has(uid) && !lifecycles.isRemovedFromSource(uid);
  return checkpointAt(place, () => Object.fromEntries([...statuses.all()].filter(([uid]) => isKept(uid))));
}

export async function loadStatuses(place: StatusCheckpointLocation): Promise<Statuses> {
  return (await checkpointAt(place, () => ({})).load()) ?? {};
}

/** The statuses in the form that their store restores. */
export function statusEntries(statuses: Statuses): readonly (readonly [PodUid, PodStatus])[] {
  return Object.entries(statuses).map(([uid, status]) => [podUid(uid), status] as const);
}

function checkpointAt(
  { rootDir, ...deps }: StatusCheckpointLocation,
  content: () => Statuses,
): CheckpointFile<Statuses> {
  const path = join(rootDir, 'pod_statuses_state');
  return new CheckpointFile<Statuses>('status-checkpoint', { ...deps, path, version, content });
}
