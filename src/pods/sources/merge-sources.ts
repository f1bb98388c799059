import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import { configAnnotations, localAnnotations, seenTime, withConfigSource } from '../../model/annotations.ts';
import { describePod } from '../../model/containers.ts';
import { desiredPod, type DesiredPod, type PodSource } from '../../model/desired-pod.ts';
import type { PodUpdate, PodUpdateOp } from '../../model/pod-update.ts';

export type KnownPods = ReadonlyMap<PodUid, DesiredPod>;

export interface Merged {
  /** In the order in which they must be delivered. */
  readonly updates: readonly PodUpdate[];
  readonly known: KnownPods;
  /** Pods left out because another one of the same set has their name or uid. */
  readonly duplicates: readonly DesiredPod[];
}

/** Removals first: a pod that takes over the name of another one comes after it. */
const order: readonly PodUpdateOp[] = ['remove', 'add', 'update', 'delete', 'set', 'reconcile'];

/**
 * What changed in a source between the set known and the next one. `known` is undefined for a source that has not
 * spoken before; `seen` is the moment noted on pods that bring none.
 */
export function computeUpdates(
  known: KnownPods | undefined,
  source: PodSource,
  nextSet: readonly DesiredPod[],
  seen: string,
): Merged {
  const { unique, duplicates } = withoutDuplicates(nextSet);
  const changed = new Map<PodUpdateOp, DesiredPod[]>(order.map((op) => [op, []]));
  const next = new Map<PodUid, DesiredPod>();
  for (const pod of unique) {
    const before = known?.get(pod.uid);
    // A manifest with a uid of its own can be given another name: that is another pod.
    const same = before?.fullName === pod.fullName ? before : undefined;
    const merged = stamp(pod, source, same?.metadata.annotations?.[configAnnotations.seen], seen);
    next.set(pod.uid, merged);
    const op = same === undefined ? 'add' : changeOf(same, merged);
    if (op !== undefined) changed.get(op)?.push(merged);
  }
  for (const [uid, pod] of known ?? []) {
    if (next.get(uid)?.fullName !== pod.fullName) changed.get('remove')?.push(pod);
  }
  const updates = order.flatMap((op): readonly PodUpdate[] => {
    const pods = changed.get(op) ?? [];
    // A first word without pods is passed on too, so that the source counts as heard.
    const firstAndEmpty = op === 'set' && known === undefined && next.size === 0;
    return pods.length > 0 || firstAndEmpty ? [{ op, source, pods }] : [];
  });
  return { updates, known: next, duplicates };
}

function withoutDuplicates(
  pods: readonly DesiredPod[],
): Pick<Merged, 'duplicates'> & { unique: readonly DesiredPod[] } {
  const taken = new Set<string>();
  const unique: DesiredPod[] = [];
  const duplicates: DesiredPod[] = [];
  for (const pod of pods) {
    const keys = [`name ${pod.fullName}`, `uid ${pod.uid}`];
    if (keys.some((key) => taken.has(key))) duplicates.push(pod);
    else unique.push(pod);
    for (const key of keys) taken.add(key);
  }
  return { unique, duplicates };
}

function stamp(pod: DesiredPod, source: PodSource, firstSeen: string | undefined, now: string): DesiredPod {
  const own = pod.metadata.annotations ?? {};
  const seen = firstSeen ?? own[configAnnotations.seen] ?? now;
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

export interface PodSourcesDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly configured: readonly PodSource[];
  readonly onUpdate: (update: PodUpdate) => void;
  /** Tells the world of a pod that was left out (event FailedValidation). */
  readonly recordDuplicate?: (pod: DesiredPod, message: string) => void;
}

/** Turns the sets that sources tell into one ordered stream of updates. */
export class PodSources {
  readonly #deps: PodSourcesDeps;
  readonly #known = new Map<PodSource, KnownPods>();
  readonly #heard = new Set<PodSource>();
  #reported: ReadonlySet<PodUid> = new Set();

  constructor(deps: PodSourcesDeps) {
    this.#deps = deps;
  }

  set(source: PodSource, pods: readonly DesiredPod[]): void {
    const { log, clock, configured, onUpdate } = this.#deps;
    if (!configured.includes(source)) throw new TubeletError('internal', `pod source ${source} is not configured`);
    const merged = computeUpdates(this.#known.get(source), source, pods, seenTime(clock.now()));
    this.#known.set(source, merged.known);
    this.#report(source, merged.duplicates);
    for (const update of merged.updates) {
      log.debug(4, 'Pods of a source changed', { source, op: update.op, pods: update.pods.map((pod) => pod.fullName) });
      onUpdate(update);
    }
    // Only now: who waits for all sources must find their pods already delivered.
    this.#heard.add(source);
  }

  /** Every configured source has spoken. Until then a pod that nobody mentions may still be wanted. */
  allReady(): boolean {
    return this.#deps.configured.every((source) => this.#heard.has(source));
  }

  seen(source: PodSource): boolean {
    return this.#heard.has(source);
  }

  /** A source repeats its set for as long as it stays; each duplicate is worth one line. */
  #report(source: PodSource, duplicates: readonly DesiredPod[]): void {
    const { log, recordDuplicate } = this.#deps;
    for (const pod of duplicates) {
      if (this.#reported.has(pod.uid)) continue;
      log.warn('Leaving out a pod whose name or uid another pod of the source has', { source, pod: pod.fullName });
      const reason = `due to duplicate pod name "${pod.name}", ignoring`;
      recordDuplicate?.(pod, `Error validating pod ${describePod(pod)} from ${source} ${reason}`);
    }
    if (duplicates.length > 0 || this.#reported.size > 0) this.#reported = new Set(duplicates.map((pod) => pod.uid));
  }
}
