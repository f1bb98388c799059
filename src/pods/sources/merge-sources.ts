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

/** A pod as the source told it, and as it was passed on. */
interface KnownPod {
  readonly told: DesiredPod;
  readonly passedOn: DesiredPod;
}
export type KnownPods = ReadonlyMap<PodUid, KnownPod>;

interface Merged {
  /** In the order in which they must be delivered. */
  readonly updates: readonly PodUpdate[];
  readonly known: KnownPods;
  /** Pods left out because another one of the same set has their name or uid, or another source their uid. */
  readonly duplicates: readonly DesiredPod[];
}

/** Removals first: a pod that takes over the name of another one comes after it. */
const order: readonly PodUpdateOp[] = ['remove', 'add', 'update', 'delete', 'set', 'reconcile'];

/**
 * What changed in a source between the set known and the next one. `known` is undefined for a source that has not
 * spoken before; `seen` is the moment noted on pods that bring none; `isTaken` tells of uids that other sources have.
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
    // Sources tell the same value for what has not changed, so that a set costs as much as its changes.
    if (before?.told === pod) {
      next.set(pod.uid, before);
      continue;
    }
    // A manifest with a uid of its own can be given another name: that is another pod.
    const same = before?.passedOn.fullName === pod.fullName ? before.passedOn : undefined;
    const passedOn = stamp(pod, source, same?.metadata.annotations?.[configAnnotations.seen], seen);
    next.set(pod.uid, { told: pod, passedOn });
    const op = same === undefined ? 'add' : changeOf(same, passedOn);
    if (op !== undefined) changed.get(op)?.push(passedOn);
  }
  for (const [uid, { passedOn }] of known ?? []) {
    if (next.get(uid)?.passedOn.fullName !== passedOn.fullName) changed.get('remove')?.push(passedOn);
  }
  const updates = order.flatMap((op): readonly PodUpdate[] => {
    const pods = changed.get(op) ?? [];
    // A first word without pods is passed on too, so that the source counts as heard.
    const firstAndEmpty = op === 'set' && known === undefined && next.size === 0;
    return pods.length > 0 || firstAndEmpty ? [{ op, source, pods }] : [];
  });
  return { updates, known: next, duplicates };
}

/**
 * A name or uid stays with the pod that had it in the set before, so that what is put beside a pod that runs does not
 * end it; among pods that are new together it is the first one's.
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
    // Also of those left out: which of a set's pods stand in each other's way must not depend on other sources.
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
    if (before?.told === pod) ranks[0].push(pod);
    else ranks[before?.passedOn.fullName === pod.fullName ? 1 : 2].push(pod);
  }
  return ranks.flat();
}

function stamp(pod: DesiredPod, source: PodSource, firstSeen: string | undefined, now: string): DesiredPod {
  const own = pod.metadata.annotations ?? {};
  // What the API server has under that name is another agent's moment, such as the one a mirror pod was copied with.
  const noted = source === 'api' ? undefined : own[configAnnotations.seen];
  const seen = firstSeen ?? noted ?? now;
  if (own[configAnnotations.source] === source && own[configAnnotations.seen] === seen) return pod;
  const metadata = withConfigSource(pod.metadata, source, seen);
  return desiredPod(source, { metadata, spec: pod.spec, status: pod.status });
}

/** What a new version of a known pod asks for; nothing when only bookkeeping of the API server differs. */
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
  /** Tells the world of a pod that was left out (event FailedValidation). */
  readonly recordDuplicate?: (pod: DesiredPod, message: string) => void;
}

/** What one source said last. */
interface SourceState {
  readonly told: readonly DesiredPod[];
  readonly known: KnownPods;
  readonly duplicates: readonly DesiredPod[];
}

/**
 * Turns the sets that sources tell into one ordered stream of updates. A uid belongs to the source that has it first:
 * everything behind is keyed by uid, and what one source removes must not be what another still wants.
 */
export class PodSources {
  readonly #deps: PodSourcesDeps;
  readonly #states = new Map<PodSource, SourceState>();
  readonly #heard = new Set<PodSource>();

  constructor(deps: PodSourcesDeps) {
    this.#deps = deps;
  }

  set(source: PodSource, pods: readonly DesiredPod[]): void {
    const { configured } = this.#deps;
    if (!configured.includes(source)) throw new InvariantError(`pod source ${source} is not configured`);
    this.#merge(source, pods);
    // What this source has given up, another may have asked for all the while.
    for (const [other, { told, duplicates }] of this.#states) {
      if (other !== source && duplicates.length > 0) this.#merge(other, told);
    }
    // Only now: who waits for all sources must find their pods already delivered.
    this.#heard.add(source);
  }

  /** Every configured source has spoken. Until then a pod that nobody mentions may still be wanted. */
  sourcesReady(): boolean {
    return this.#deps.configured.every((source) => this.#heard.has(source));
  }

  seen(source: PodSource): boolean {
    return this.#heard.has(source);
  }

  #merge(source: PodSource, told: readonly DesiredPod[]): void {
    const { log, clock, onUpdate } = this.#deps;
    const before = this.#states.get(source);
    const others = [...this.#states].filter(([other]) => other !== source).map(([, { known }]) => known);
    const isTaken = (uid: PodUid): boolean => others.some((known) => known.has(uid));
    const seen = seenTime(clock.now());
    const { updates, known, duplicates } = computeUpdates(before?.known, source, told, seen, isTaken);
    this.#states.set(source, { told, known, duplicates });
    this.#report(source, duplicates, before?.duplicates ?? []);
    for (const update of updates) {
      log.debug(4, 'Pods of a source changed', { source, op: update.op, ...podListFields(update.pods) });
      onUpdate(update);
    }
  }

  /** A source repeats its set for as long as it stays; each duplicate is worth one line. */
  #report(source: PodSource, duplicates: readonly DesiredPod[], reported: readonly DesiredPod[]): void {
    const { log, recordDuplicate } = this.#deps;
    for (const pod of duplicates) {
      if (reported.some((one) => one.uid === pod.uid && one.fullName === pod.fullName)) continue;
      log.warn('Leaving out a pod whose name or uid another pod has', { source, ...podFields(pod) });
      const reason = `due to duplicate pod name "${pod.name}", ignoring`;
      recordDuplicate?.(pod, `Error validating pod ${describePod(pod)} from ${source} ${reason}`);
    }
  }
}
