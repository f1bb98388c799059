import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { podUid, type PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import { CheckpointFile, type CheckpointDisk } from '../../state/index.ts';

type Statuses = Readonly<Record<string, PodStatus>>;

const version = 1;

interface StatusCheckpointPlace {
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
 * Statuses outlive the agent: a restart keeps start and transition times, and a container that was ready stays so until a
 * probe says otherwise.
 */
export function statusCheckpoint(place: StatusCheckpointPlace, pods: RememberedPods): CheckpointFile<Statuses> {
  const { statuses, desired, lifecycles } = pods;
  // What is left of a pod's old life says nothing about its next.
  const isKept = (uid: PodUid): boolean => desired.has(uid) && !lifecycles.isRemovedFromSource(uid);
  return checkpointAt(place, () => Object.fromEntries([...statuses.all()].filter(([uid]) => isKept(uid))));
}

export async function loadStatuses(place: StatusCheckpointPlace): Promise<Statuses> {
  return (await checkpointAt(place, () => ({})).load()) ?? {};
}

/** As a store of statuses takes them over. */
export function statusEntries(statuses: Statuses): readonly (readonly [PodUid, PodStatus])[] {
  return Object.entries(statuses).map(([uid, status]) => [podUid(uid), status] as const);
}

function checkpointAt({ rootDir, ...deps }: StatusCheckpointPlace, content: () => Statuses): CheckpointFile<Statuses> {
  const path = join(rootDir, 'pod_statuses_state');
  return new CheckpointFile<Statuses>('status-checkpoint', { ...deps, path, version, content });
}
