import type { ContainerId, PodUid, SandboxId } from '../../base/ids.ts';
import type { ObservedContainer, ObservedPod } from '../../model/observed-pod.ts';

/** All instances of one container of one pod. */
export interface GcUnit {
  readonly uid: PodUid;
  readonly container: string;
  /** Newest first. */
  readonly instances: readonly GcInstance[];
  readonly contentRemovable: boolean;
}

type GcInstance = Pick<ObservedContainer, 'id' | 'state' | 'createdAt' | 'logPath'>;

/** How many dead instances are kept for their logs and exit codes. A negative number is no limit. */
export interface GcPolicy {
  /** Younger instances are kept; the age counts from their creation, not from their end. */
  readonly minAgeMs: number;
  readonly maxPerContainer: number;
  /** On the whole node. */
  readonly maxTotal: number;
}

export interface Evictable {
  readonly uid: PodUid;
  readonly id: ContainerId;
  /** Undefined where it has none, or where an instance that is kept writes to the same file. */
  readonly logPath: string | undefined;
  readonly reason: string;
}

interface DeadInstance {
  readonly uid: PodUid;
  readonly instance: GcInstance;
  readonly reason: string;
}

export function unitsOf({ uid, containers }: ObservedPod, contentRemovable: boolean): readonly GcUnit[] {
  const names = new Map<string, GcInstance[]>();
  for (const instance of containers) {
    const instances = names.get(instance.name);
    if (instances === undefined) names.set(instance.name, [instance]);
    else instances.push(instance);
  }
  return [...names].map(([container, instances]) => ({ uid, container, instances, contentRemovable }));
}

/**
 * Which dead instances are too many, the oldest first. First each container keeps its newest. Then the node keeps its
 * share: every container an equal part, one at least, and if that is still too much, the newest of all.
 *
 * Running instances are never removed, nor those in state unknown, which may run. An instance that was created and never
 * started may be about to start as long as there is no newer one; after that it is removed and counts for no limit.
 */
export function computeEvictable(units: readonly GcUnit[], policy: GcPolicy, now: number): readonly Evictable[] {
  const { maxPerContainer, maxTotal } = policy;
  const evicted: DeadInstance[] = [];
  let kept: DeadInstance[][] = [];
  for (const unit of units) {
    const old = unit.instances.map((instance) => now - instance.createdAt >= policy.minAgeMs);
    const select = (reason: string, wanted: (instance: GcInstance, index: number) => boolean): DeadInstance[] =>
      unit.instances
        .filter((instance, index) => old[index] === true && wanted(instance, index))
        .map((instance) => ({ uid: unit.uid, instance, reason }));
    evicted.push(
      ...select('it was never started and has a successor', ({ state }, index) => state === 'created' && index > 0),
    );
    const dead = select('', ({ state }) => state === 'exited');
    if (unit.contentRemovable) evicted.push(...withReason('its pod has ended for good', dead));
    else kept.push(dead);
  }
  const cut = (max: number, reason: string): void => {
    evicted.push(
      ...withReason(
        reason,
        kept.flatMap((dead) => dead.slice(max)),
      ),
    );
    kept = kept.map((dead) => dead.slice(0, max)).filter((dead) => dead.length > 0);
  };
  if (maxPerContainer >= 0) cut(maxPerContainer, `its container keeps ${maxPerContainer}`);
  if (maxTotal >= 0 && count(kept) > maxTotal) {
    kept = kept.filter((dead) => dead.length > 0);
    cut(Math.max(1, Math.floor(maxTotal / kept.length)), `the node keeps ${maxTotal}`);
    const newest = kept.flat().toSorted(byAge).toReversed();
    evicted.push(...withReason(`the node keeps ${maxTotal}`, newest.slice(maxTotal)));
  }
  return withLogs(units, evicted.toSorted(byAge));
}

/** An instance that was never started has the attempt number of its successor, and so the path of its log. */
function withLogs(units: readonly GcUnit[], evicted: readonly DeadInstance[]): readonly Evictable[] {
  const evictedIds = new Set(evicted.map(({ instance }) => instance.id));
  const kept = units.flatMap(({ instances }) => instances.filter(({ id }) => !evictedIds.has(id)));
  const inUse = new Set(['', ...kept.map(({ logPath }) => logPath)]);
  return evicted.map(({ uid, instance: { id, logPath }, reason }) => ({
    uid,
    id,
    logPath: inUse.has(logPath) ? undefined : logPath,
    reason,
  }));
}

/** A pod's sandboxes to remove: not ready, not the newest, and without a container that is kept. */
export function computeEvictableSandboxes(
  { sandboxes, containers }: ObservedPod,
  evictedIds: ReadonlySet<ContainerId>,
  contentRemovable: boolean,
): readonly SandboxId[] {
  const held = new Set(containers.filter(({ id }) => !evictedIds.has(id)).map(({ sandboxId }) => sandboxId));
  return sandboxes
    .slice(contentRemovable ? 0 : 1)
    .filter(({ id, state }) => state === 'notReady' && !held.has(id))
    .map(({ id }) => id);
}

const withReason = (reason: string, dead: readonly DeadInstance[]): readonly DeadInstance[] =>
  dead.map((one) => ({ ...one, reason }));
const count = (kept: readonly (readonly DeadInstance[])[]): number => kept.reduce((sum, dead) => sum + dead.length, 0);
const byAge = (one: DeadInstance, other: DeadInstance): number => one.instance.createdAt - other.instance.createdAt;
