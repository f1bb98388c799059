import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../base/clock.ts';
import { InvariantError } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import { configAnnotations, localAnnotations, seenTime, withConfigSource } from '../../model/annotations.ts';
import { describePod } from '../../model/containers.ts';
import { desiredPod, type DesiredPod, type PodSource } from '../../model/desired-pod.ts';
import { podFields, podListFields } from '../../model/pod-log.ts';
import type { PodUpdate, PodUpdateOp } from '../../model/pod-update.ts';

/** A pod as the source reported it, and as it was delivered. */
interface KnownPod {
  readonly reported: DesiredPod;
  readonly delivered: DesiredPod;
}
export type KnownPods = ReadonlyMap<PodUid, KnownPod>;

interface Merged {
  /** In the order in which they must be delivered. */
  readonly updates: readonly PodUpdate[];
  readonly known: KnownPods;
  /** Pods left out because another one of the same set has their name or uid, or another source their uid. */
  readonly duplicates: readonly DesiredPod[];
}

/** Removals first: a pod with the name of a removed one comes after it. */
const order: readonly PodUpdateOp[] = ['remove', 'add', 'update', 'delete', 'set', 'reconcile'];

/**
 * What changed in a source between the set known and the next one. `known` is undefined for a source that was not read
 * before; `seen` is the time noted on pods that bring none; `isTaken` says whether another source has a uid.
 */
export function computeUpdates(
  known: KnownPods | undefined,
  source: PodSource,
  nextSet: readonly DesiredPod[],
  seen: string,
  isTaken: (uid: PodUid) => boolean = () => false,
): Merged {
  const { unique, duplicates } = withoutDuplicates(nextSet, known, isTaken);
  const changed = new Map<PodUpdateOp, DesiredPod[]>(order.map((op) => [op, []]));
  const next = new Map<PodUid, KnownPod>();
  for (const pod of unique) {
    const before = known?.get(pod.uid);
    // Sources report the same value for a pod that has not changed, so that a set costs as much as its changes.
    if (before?.reported === pod) {
      next.set(pod.uid, before);
      continue;
    }
    // A manifest with a uid of its own may get another name: that is another pod.
    const same = before?.delivered.fullName === pod.fullName ? before.delivered : undefined;
    const delivered = stamp(pod, source, same?.metadata.annotations?.[configAnnotations.seen], seen);
    next.set(pod.uid, { reported: pod, delivered });
    const op = same === undefined ? 'add' : changeOf(same, delivered);
    if (op !== undefined) changed.get(op)?.push(delivered);
  }
  for (const [uid, { delivered }] of known ?? []) {
    if (next.get(uid)?.delivered.fullName !== delivered.fullName) changed.get('remove')?.push(delivered);
  }
  const updates = order.flatMap((op): readonly PodUpdate[] => {
    const pods = changed.get(op) ?? [];
    // A first set without pods is delivered too, so that the source counts as seen.
    const firstAndEmpty = op === 'set' && known === undefined && next.size === 0;
    return pods.length > 0 || firstAndEmpty ? [{ op, source, pods }] : [];
  });
  return { updates, known: next, duplicates };
}

/**
 * A name or uid stays with the pod that had it in the set before, so that a duplicate that is added does not end a pod that
 * runs; among pods that are new together the first one gets it.
 */
function withoutDuplicates(
  pods: readonly DesiredPod[],
  known: KnownPods | undefined,
  isTaken: (uid: PodUid) => boolean,
): Pick<Merged, 'duplicates'> & { unique: readonly DesiredPod[] } {
  const taken = new Set<string>();
  const unique: DesiredPod[] = [];
  const duplicates: DesiredPod[] = [];
  for (const pod of oldestFirst(pods, known)) {
    const keys = [`name ${pod.fullName}`, `uid ${pod.uid}`];
    if (isTaken(pod.uid) || keys.some((key) => taken.has(key))) duplicates.push(pod);
    else unique.push(pod);
    // Also of those left out: which pods of a set are duplicates of each other must not depend on other sources.
    for (const key of keys) taken.add(key);
  }
  return { unique, duplicates };
}

/** Pods that have not changed, then new versions of known ones, then those that are new. */
function oldestFirst(pods: readonly DesiredPod[], known: KnownPods | undefined): readonly DesiredPod[] {
  if (known === undefined || known.size === 0) return pods;
  const ranks: [DesiredPod[], DesiredPod[], DesiredPod[]] = [[], [], []];
  for (const pod of pods) {
    const before = known.get(pod.uid);
    if (before?.reported === pod) ranks[0].push(pod);
    else ranks[before?.delivered.fullName === pod.fullName ? 1 : 2].push(pod);
  }
  return ranks.flat();
}

function stamp(pod: DesiredPod, source: PodSource, firstSeen: string | undefined, now: string): DesiredPod {
  const own = pod.metadata.annotations ?? {};
  // The API server's annotation is another agent's time, such as the one that a mirror pod was copied with.
  const noted = source === 'api' ? undefined : own[configAnnotations.seen];
  const seen = firstSeen ?? noted ?? now;
  if (own[configAnnotations.source] === source && own[configAnnotations.seen] === seen) return pod;
  const metadata = withConfigSource(pod.metadata, source, seen);
  return desiredPod(source, { metadata, spec: pod.spec, status: pod.status });
}

/** The update for a new version of a known pod; none when only bookkeeping of the API server differs. */
function changeOf(before: DesiredPod, after: DesiredPod): 'update' | 'delete' | 'reconcile' | undefined {
  if (before === after) return undefined;
  const same =
    isDeepStrictEqual(before.spec, after.spec) &&
    isDeepStrictEqual(before.metadata.labels ?? {}, after.metadata.labels ?? {}) &&
    before.metadata.deletionTimestamp === after.metadata.deletionTimestamp &&
    before.metadata.deletionGracePeriodSeconds === after.metadata.deletionGracePeriodSeconds &&
    isDeepStrictEqual(foreignAnnotations(before), foreignAnnotations(after));
  if (!same) return after.metadata.deletionTimestamp === undefined ? 'update' : 'delete';
  return isDeepStrictEqual(before.status, after.status) ? undefined : 'reconcile';
}

function foreignAnnotations(pod: DesiredPod): ReadonlyMap<string, string> {
  return new Map(Object.entries(pod.metadata.annotations ?? {}).filter(([key]) => !localAnnotations.has(key)));
}

interface PodSourcesDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly configured: readonly PodSource[];
  readonly onUpdate: (update: PodUpdate) => void;
  /** Records the event of a pod that was left out (FailedValidation). */
  readonly recordDuplicate: (pod: DesiredPod, message: string) => void;
}

/** The last set of one source. */
interface SourceState {
  readonly reported: readonly DesiredPod[];
  readonly known: KnownPods;
  readonly duplicates: readonly DesiredPod[];
}

/**
 * Turns the sets of the sources into one ordered stream of updates. A uid belongs to the source that has it first: all
 * rooms behind key by uid, so a source must not remove a pod that another still names.
 */
export class PodSources {
  readonly #deps: PodSourcesDeps;
  readonly #states = new Map<PodSource, SourceState>();
  readonly #seenSources = new Set<PodSource>();

  constructor(deps: PodSourcesDeps) {
    this.#deps = deps;
  }

  set(source: PodSource, pods: readonly DesiredPod[]): void {
    const { configured } = this.#deps;
    if (!configured.includes(source)) throw new InvariantError(`pod source ${source} is not configured`);
    this.#merge(source, pods);
    // Another source may have had a duplicate of a pod that this source has dropped.
    for (const [other, { reported, duplicates }] of this.#states) {
      if (other !== source && duplicates.length > 0) this.#merge(other, reported);
    }
    // Last, so that a component that waits for all sources finds their pods delivered.
    this.#seenSources.add(source);
  }

  /** Every configured source has been read once. Until then a pod that no source names may still be named by one. */
  sourcesReady(): boolean {
    return this.#deps.configured.every((source) => this.#seenSources.has(source));
  }

  seen(source: PodSource): boolean {
    return this.#seenSources.has(source);
  }

  #merge(source: PodSource, reported: readonly DesiredPod[]): void {
    const { log, clock, onUpdate } = this.#deps;
    const before = this.#states.get(source);
    const others = [...this.#states].filter(([other]) => other !== source).map(([, { known }]) => known);
    const isTaken = (uid: PodUid): boolean => others.some((known) => known.has(uid));
    const seen = seenTime(clock.now());
    const { updates, known, duplicates } = computeUpdates(before?.known, source, reported, seen, isTaken);
    this.#states.set(source, { reported, known, duplicates });
    this.#report(source, duplicates, before?.duplicates ?? []);
    for (const update of updates) {
      log.debug(4, 'Pods of a source changed', { source, op: update.op, ...podListFields(update.pods) });
      onUpdate(update);
    }
  }

  /** A source repeats its duplicates with every set; each is logged once. */
  #report(source: PodSource, duplicates: readonly DesiredPod[], reported: readonly DesiredPod[]): void {
    const { log, recordDuplicate } = this.#deps;
    for (const pod of duplicates) {
      if (reported.some((one) => one.uid === pod.uid && one.fullName === pod.fullName)) continue;
      log.warn('Leaving out a pod whose name or uid another pod has', { source, ...podFields(pod) });
      const reason = `due to duplicate pod name "${pod.name}", ignoring`;
      recordDuplicate(pod, `Error validating pod ${describePod(pod)} from ${source} ${reason}`);
    }
  }
}
