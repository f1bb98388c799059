import { linkedSignal, raceAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import { describeError, kindOf, TubeletError } from '../base/errors.ts';
import type { PodUid } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Volume } from '../gen/kubernetes/types.ts';
import type { Decisions } from '../model/decisions.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import { volumeEvents } from '../model/event-reasons.ts';
import { podFields } from '../model/pod-log.ts';
import type { PodPaths } from '../model/pod-paths.ts';
import type { Claims } from './claims/volume-claims.ts';
import { countVolumes, noVolumes, readyVolumes, recordOf, underWay, type PodVolumes } from './pod-volumes.ts';
import { PodTeardowns } from './pod-teardowns.ts';
import type { MountedVolume, VolumeEvents, VolumeHost, VolumePlugin } from './ports.ts';
import type { SubPaths } from './sub-paths.ts';
import { VolumeAttempts, type WantedVolume } from './volume-attempts.ts';
import { OnlineExpansion } from './online-expansion.ts';
import { volumeMetrics } from './volume-metrics.ts';
import { reportedFailure, UnprocessedVolumeError, type ReportedFailure } from './volume-failures.ts';
import { shouldReport, nextFailure, type VolumeRecord } from './volume-record.ts';
import { VolumesOnDisk } from './volumes-on-disk.ts';
import { refusalOf, unableToMount, wantedVolumes } from './wanted-volumes.ts';

export interface VolumeManagerDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly host: VolumeHost;
  readonly paths: PodPaths;
  readonly plugins: readonly VolumePlugin[];
  readonly claims: Claims;
  readonly subPaths: Pick<SubPaths, 'clean'>;
  readonly events: VolumeEvents;
  readonly decisions: Decisions;
  /** Requests a sync of the pod: a failed volume may be due for a retry, or contents for a refresh. */
  readonly wake: (uid: PodUid) => void;
  /** In how many milliseconds contents of the pod's volumes expire by themselves, as tokens do. */
  readonly refreshInMs: (uid: PodUid) => number | undefined;
  readonly metrics: Metrics;
  /** The attachable volumes in use have changed: the node's status should report them soon. */
  readonly inUseChanged: () => void;
}

/** How long a pod waits for its volumes before the manager reports a timeout. Upstream: podAttachAndMountTimeout. */
const mountTimeoutMs = 123_000;
/** Limits how often the manager retries a renewal that fails. */
const minRefreshMs = 10_000;

/** Sets up the volumes of pods and tears them down; the only writer of what is mounted. */
export class VolumeManager implements Component {
  readonly name = 'volumes';
  readonly #deps: VolumeManagerDeps;
  readonly #pods = new Map<PodUid, PodVolumes>();
  /** A pod that comes back under its uid waits for those under way. */
  readonly #teardowns = new PodTeardowns();
  readonly #attempts: VolumeAttempts;
  readonly #onDisk: VolumesOnDisk;
  readonly #expansion: OnlineExpansion;

  constructor(deps: VolumeManagerDeps) {
    this.#deps = deps;
    const metrics = volumeMetrics(deps.metrics, () => countVolumes(this.#pods.values()));
    this.#attempts = new VolumeAttempts({ ...deps, metrics });
    this.#onDisk = new VolumesOnDisk({ ...deps, metrics });
    this.#expansion = new OnlineExpansion(deps);
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    for (const pod of this.#pods.values()) {
      pod.timer?.cancel();
      pod.abort.abort();
    }
  }

  /**
   * Returns when every volume that the pod's containers use is ready; contents that follow objects are brought up to date
   * on the way. Rejects as soon as one fails; the others go on meanwhile and the next call joins them.
   */
  async mount(pod: DesiredPod, signal: AbortSignal): Promise<void> {
    await this.#teardowns.ended(pod.uid);
    signal.throwIfAborted();
    const volumes = this.#volumesOf(pod.uid);
    const wanted = this.#recognized(pod, volumes);
    const limit = linkedSignal(signal, { clock: this.#deps.clock, ms: mountTimeoutMs });
    try {
      const each = wanted.map((one) => this.#ensureMounted(pod, one, volumes));
      await raceAbort(Promise.all(each), limit.signal);
      delete volumes.waitingSinceMs;
      this.#wakeIn(pod.uid, volumes, this.#refreshInMs(pod.uid));
    } catch (error) {
      signal.throwIfAborted();
      throw this.#waitError(pod, volumes, error);
    } finally {
      limit.release();
    }
  }

  /** What is ready of a pod: volume name → where it is on the host. */
  mounted(uid: PodUid): ReadonlyMap<string, MountedVolume> {
    return readyVolumes(this.#pods.get(uid));
  }

  /**
   * What volumes of a plugin waited for may be there now. Makes its failed volumes due, and claims whose plugin is not known
   * yet, and wakes pods whose volumes could not be torn down.
   */
  retry(kind: string): void {
    this.#retry((plugin = kind) => plugin === kind);
  }

  /** Storage that did not answer may answer now: makes all failed volumes due. */
  retryAll(): void {
    this.#retry(() => true);
  }

  #retry(isConcerned: (plugin: string | undefined) => boolean): void {
    const nextAtMs = this.#deps.clock.monotonic();
    for (const [uid, { records, abort }] of this.#pods) {
      const concerned = [...records.values()].filter(({ plugin }) => isConcerned(plugin));
      const failed = concerned.filter(({ failure }) => failure !== undefined);
      for (const record of failed) if (record.failure !== undefined) record.failure = { ...record.failure, nextAtMs };
      if (failed.length > 0 || (concerned.length > 0 && abort.signal.aborted)) this.#deps.wake(uid);
    }
  }

  /** The attachable volumes in use here, by the names that the node's status has for them. */
  attachable(): readonly string[] {
    const names = [...this.#pods.values()].flatMap(({ records }) =>
      [...records.values()].flatMap(({ attachable }) => attachable ?? []),
    );
    return [...new Set(names)];
  }

  /** Groups that the pod's volumes want its containers to have, without those it has by itself. */
  extraGroups({ uid, spec }: Pick<DesiredPod, 'uid' | 'spec'>): readonly number[] {
    const own = spec.securityContext?.supplementalGroups ?? [];
    const groups = [...this.mounted(uid).values()].flatMap(({ gid }) => gid ?? []);
    return [...new Set(groups)].filter((group) => !own.includes(group));
  }

  /** Tears all volumes of a stopped pod down. */
  unmount(pod: Pick<DesiredPod, 'uid'>): Promise<void> {
    return this.tearDown(pod.uid);
  }

  /**
   * Tears down all volumes that a pod has on this node. Reads them from the disk: the pod may have been deleted while no
   * agent ran. Removes subPath mounts before the volumes that they are parts of.
   */
  tearDown(uid: PodUid): Promise<void> {
    return this.#teardowns.run(uid, () => this.#tearDown(uid));
  }

  /** The pod is removed from this node. Aborts operations under way, and drops their record when they have ended. */
  forget(uid: PodUid): void {
    const known = this.#pods.get(uid);
    if (known === undefined) return;
    known.timer?.cancel();
    known.abort.abort();
    const operations = underWay(known).map(([, operation]) => operation);
    if (operations.length === 0) this.#pods.delete(uid);
    else void Promise.all(operations).then(() => this.#drop(uid, known));
  }

  /** How many pods have volumes here, ready or not. */
  size(): number {
    return this.#pods.size;
  }

  teardownsUnderWay(): number {
    return this.#teardowns.size;
  }

  async #tearDown(uid: PodUid): Promise<void> {
    const known = this.#pods.get(uid);
    known?.timer?.cancel();
    known?.abort.abort();
    await this.#operationsEnded(known);
    await this.#deps.subPaths.clean(uid);
    await this.#onDisk.tearDown(uid, known === undefined);
    // Later results of aborted operations must not reach the record of a pod that comes back under this uid.
    this.#drop(uid, known);
  }

  /** Unless the pod has come back under its uid. */
  #drop(uid: PodUid, known: PodVolumes | undefined): void {
    if (this.#pods.get(uid) === known) this.#pods.delete(uid);
  }

  /** Waits until no setUp runs, so that tearDown does not race it. Throws with the names of those that ignore the abort. */
  async #operationsEnded(volumes: PodVolumes | undefined): Promise<void> {
    const operations = underWay(volumes).map(([, operation]) => operation);
    if (operations.length === 0) return;
    const limit = linkedSignal(undefined, { clock: this.#deps.clock, ms: mountTimeoutMs });
    try {
      await raceAbort(Promise.all(operations), limit.signal);
    } catch (cause) {
      const names = underWay(volumes).map(([name]) => name);
      throw new TubeletError('timeout', `volumes are still being set up: ${names.join(', ')}`, { cause });
    } finally {
      limit.release();
    }
  }

  #volumesOf(uid: PodUid): PodVolumes {
    const known = this.#pods.get(uid);
    if (known !== undefined && !known.abort.signal.aborted) return known;
    const made = noVolumes();
    this.#pods.set(uid, made);
    return made;
  }

  /** The pod's volumes with their plugins. A volume that no plugin handles fails the pod before anything is set up. */
  #recognized(pod: DesiredPod, volumes: PodVolumes): readonly WantedVolume[] {
    const { plugins, claims } = this.#deps;
    const unknown: Volume[] = [];
    const known = wantedVolumes(pod.spec).flatMap((volume): readonly WantedVolume[] => {
      if (claims.handles(volume)) return [{ volume }];
      const plugin = plugins.find((candidate) => candidate.handles(volume));
      if (plugin === undefined) unknown.push(volume);
      return plugin === undefined ? [] : [{ volume, plugin }];
    });
    if (unknown.length === 0) return known;
    const names = unknown.map(({ name }) => name);
    const message = unableToMount(names, names, unknown.map(refusalOf).join(', '));
    const error = new TubeletError('unsupported', message);
    for (const name of names)
      this.#failed(pod, name, volumes, { error, reason: volumeEvents.failedMount, isUnprocessed: false }, message);
    throw error;
  }

  /** Sets one volume up unless that is under way, done, or not due yet. Rejects when it is not mounted then. */
  async #ensureMounted(pod: DesiredPod, wanted: WantedVolume, volumes: PodVolumes): Promise<void> {
    const record = recordOf(volumes, wanted.volume.name, this.#deps.clock.monotonic());
    // An operation that began before this call may have read contents that have changed since.
    await record.running;
    if (record.running === undefined && this.#isDue(record, wanted.plugin)) {
      record.running = this.#trySetUp(pod, wanted, volumes, record).finally(() => delete record.running);
    }
    await record.running;
    if (record.mounted === undefined) throw record.failure?.error ?? new TubeletError('cancelled', 'torn down');
    this.#expansion.expandIfDue(pod, wanted.volume, record, volumes.abort.signal);
  }

  /** Volumes that follow objects are always due: setUp is cheap, and the wake may come from the object that was missing. */
  #isDue({ mounted, failure }: VolumeRecord, plugin: VolumePlugin | undefined): boolean {
    if (plugin?.follows === true) return true;
    const nowMs = this.#deps.clock.monotonic();
    const isWanted = mounted === undefined || (mounted.renewAtMs ?? Infinity) <= nowMs;
    return isWanted && (failure === undefined || failure.nextAtMs <= nowMs);
  }

  async #trySetUp(pod: DesiredPod, wanted: WantedVolume, volumes: PodVolumes, record: VolumeRecord): Promise<void> {
    const { name } = wanted.volume;
    const { signal } = volumes.abort;
    try {
      await this.#attempts.setUp(pod, wanted, record, signal);
    } catch (error) {
      if (signal.aborted) return;
      const failure = reportedFailure(record.claimed?.name ?? name, error);
      // The claim may be bound to another volume at the next try.
      if (record.mounted === undefined) delete record.claimed;
      const { message } = failure.error;
      const reported = failure.isUnprocessed ? unableToMount(this.#unmounted(pod), [name], message) : message;
      this.#failed(pod, name, volumes, failure, reported);
    }
  }

  #failed(pod: DesiredPod, name: string, volumes: PodVolumes, failure: ReportedFailure, message: string): void {
    const { clock, events, decisions, log } = this.#deps;
    const nowMs = clock.monotonic();
    const record = recordOf(volumes, name, nowMs);
    const before = record.failure;
    record.failure = nextFailure(before, failure, nowMs);
    const nextTryInMs = record.failure.nextAtMs - nowMs;
    const inputs = { volume: name, kind: record.plugin, failures: record.failure.count };
    decisions.pod(pod, { kind: 'retry', by: 'volumes', reason: failure.reason, message, inputs, nextTryInMs });
    this.#wakeIn(pod.uid, volumes, nextTryInMs);
    if (!shouldReport(before, record.failure, nowMs)) return;
    events.record(pod, { type: 'Warning', reason: failure.reason, message });
    log.debug(2, 'Volume cannot be set up', {
      ...podFields(pod),
      volume: name,
      failures: record.failure.count,
      err: message,
    });
  }

  /** The error of a sync whose volumes are not ready: which volumes, and the last failure of one. */
  #waitError(pod: DesiredPod, volumes: PodVolumes, error: unknown): TubeletError {
    const { clock, events } = this.#deps;
    const nowMs = clock.monotonic();
    const unmounted = this.#unmounted(pod);
    const unprocessed = unmounted.filter((name) => volumes.records.get(name)?.failure?.isUnprocessed === true);
    volumes.waitingSinceMs ??= nowMs;
    const hung = kindOf(error) === 'timeout';
    if (hung || nowMs - volumes.waitingSinceMs >= mountTimeoutMs) {
      volumes.waitingSinceMs = nowMs;
      const message = unableToMount(unmounted, unprocessed, 'timed out waiting for the condition');
      events.record(pod, { type: 'Warning', reason: volumeEvents.failedMount, message });
    }
    const reason = error instanceof UnprocessedVolumeError ? error.message : describeError(error);
    return new TubeletError(kindOf(error), unableToMount(unmounted, unprocessed, reason), { cause: error });
  }

  #unmounted(pod: DesiredPod): readonly string[] {
    const ready = this.mounted(pod.uid);
    return wantedVolumes(pod.spec)
      .map(({ name }) => name)
      .filter((name) => !ready.has(name));
  }

  /** When contents of the pod expire, or a volume is to be renewed, whichever comes first. */
  #refreshInMs(uid: PodUid): number | undefined {
    const nowMs = this.#deps.clock.monotonic();
    const renewals = [...this.mounted(uid).values()].flatMap(({ renewAtMs }) => renewAtMs ?? []);
    const times = [...renewals.map((atMs) => atMs - nowMs), this.#deps.refreshInMs(uid) ?? Infinity];
    const soonest = Math.min(...times);
    return soonest === Infinity ? undefined : Math.max(soonest, minRefreshMs);
  }

  /** Keeps the earliest of several wakes. */
  #wakeIn(uid: PodUid, volumes: PodVolumes, ms: number | undefined): void {
    if (ms === undefined || volumes.abort.signal.aborted) return;
    const { clock, wake } = this.#deps;
    const atMs = clock.monotonic() + ms;
    if (volumes.timer !== undefined && volumes.timer.atMs <= atMs) return;
    volumes.timer?.cancel();
    const cancel = clock.after(ms, () => {
      delete volumes.timer;
      wake(uid);
    });
    volumes.timer = { atMs, cancel };
  }
}
