import { linkedSignal, raceAbort } from '../base/abort.ts';
import type { CancelTimer, Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import { describeError, kindOf, TubeletError } from '../base/errors.ts';
import type { PodUid } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Volume } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import { volumeEvents } from '../model/event-reasons.ts';
import type { PodPaths } from '../model/pod-paths.ts';
import type { MountedVolume, VolumeEvents, VolumeHost, VolumePlace, VolumePlugin } from './ports.ts';
import type { SubPaths } from './sub-paths.ts';
import { volumeMetrics, type VolumeCount, type VolumeMetrics } from './volume-metrics.ts';
import { isWorthTelling, nextFailure, type VolumeRecord } from './volume-record.ts';
import { pluginName, refusalOf, unableToMount, wantedVolumes } from './wanted-volumes.ts';

export interface VolumeManagerDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly host: VolumeHost;
  readonly paths: PodPaths;
  readonly plugins: readonly VolumePlugin[];
  readonly subPaths: Pick<SubPaths, 'clean'>;
  readonly events: VolumeEvents;
  /** A volume that failed may be tried again, or contents may be out of date: the pod should be looked at. */
  readonly wake: (uid: PodUid) => void;
  /** In how many milliseconds contents of the pod's volumes grow old by themselves, as tokens do. */
  readonly refreshInMs?: (uid: PodUid) => number | undefined;
  readonly metrics?: Metrics;
}

/** How long a pod waits for its volumes before that is told as such. */
const patienceMs = 123_000;
/** What should be renewed and cannot be is not asked for all the time. */
const leastRefreshMs = 10_000;

interface PodVolumes {
  readonly records: Map<string, VolumeRecord>;
  readonly abort: AbortController;
  waitingSinceMs?: number;
  timer?: { readonly atMs: number; readonly cancel: CancelTimer };
}

/** Makes the volumes of pods ready and takes them down; the only writer of what is mounted. */
export class VolumeManager implements Component {
  readonly name = 'volumes';
  readonly #deps: VolumeManagerDeps;
  readonly #pods = new Map<PodUid, PodVolumes>();
  /** Teardowns under way: a pod that comes back under its uid waits for them. They never reject. */
  readonly #teardowns = new Map<PodUid, Promise<void>>();
  readonly #metrics: VolumeMetrics;

  constructor(deps: VolumeManagerDeps) {
    this.#deps = deps;
    this.#metrics = volumeMetrics(deps.metrics, () => this.#counts());
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
    await this.#teardowns.get(pod.uid);
    signal.throwIfAborted();
    const volumes = this.#podVolumes(pod.uid);
    const wanted = this.#recognized(pod, volumes);
    const limit = linkedSignal(signal, { clock: this.#deps.clock, ms: patienceMs });
    try {
      const each = wanted.map(({ volume, plugin }) => this.#bring(pod, volume, plugin, volumes));
      await raceAbort(Promise.all(each), limit.signal);
      delete volumes.waitingSinceMs;
      const refreshMs = this.#deps.refreshInMs?.(pod.uid);
      this.#wakeIn(pod.uid, volumes, refreshMs === undefined ? undefined : Math.max(refreshMs, leastRefreshMs));
    } catch (error) {
      signal.throwIfAborted();
      throw this.#waits(pod, volumes, error);
    } finally {
      limit.release();
    }
  }

  /** What is ready of a pod: volume name → where it is on the host. */
  mounted(uid: PodUid): ReadonlyMap<string, MountedVolume> {
    const records = this.#pods.get(uid)?.records ?? new Map<string, VolumeRecord>();
    return new Map([...records].flatMap(([name, { mounted }]) => (mounted === undefined ? [] : [[name, mounted]])));
  }

  /** Takes all volumes of a stopped pod down. */
  unmount(pod: Pick<DesiredPod, 'uid'>): Promise<void> {
    return this.tearDown(pod.uid);
  }

  /**
   * Takes down whatever volumes a pod has on this node. The disk says which: the pod may have been deleted while no agent
   * was there. Parts of volumes go before the volumes they are of.
   */
  async tearDown(uid: PodUid): Promise<void> {
    // On record before anything is awaited, so that nobody begins to mount in between.
    const work = (this.#teardowns.get(uid) ?? Promise.resolve()).then(() => this.#tearDown(uid));
    const settled = work.then(
      () => undefined,
      () => undefined,
    );
    this.#teardowns.set(uid, settled);
    try {
      await work;
    } finally {
      if (this.#teardowns.get(uid) === settled) this.#teardowns.delete(uid);
    }
  }

  async #tearDown(uid: PodUid): Promise<void> {
    const known = this.#pods.get(uid);
    known?.timer?.cancel();
    known?.abort.abort();
    await this.#stillness(known);
    await this.#deps.subPaths.clean(uid);
    const { host, paths, plugins } = this.#deps;
    const kinds = await host.files.list(paths.volumes(uid));
    const downs = kinds.map(async (folder) => {
      const plugin = plugins.find((candidate) => candidate.folder === folder);
      const names = await host.files.list(`${paths.volumes(uid)}/${folder}`);
      if (known === undefined) for (const _ of names) this.#metrics.found(plugin !== undefined);
      if (plugin?.tearDown === undefined) return;
      await allDone(names.map((name) => this.#takeDown(plugin, folder, { uid, name })));
    });
    await allDone(downs);
    // What an operation of the old life still says about itself concerns nobody.
    if (this.#pods.get(uid) === known) this.#pods.delete(uid);
  }

  async #takeDown(plugin: VolumePlugin, folder: string, place: VolumePlace): Promise<void> {
    const name = folder.replace('~', '/');
    const began = this.#deps.clock.monotonic();
    const took = (): number => (this.#deps.clock.monotonic() - began) / 1_000;
    try {
      await plugin.tearDown?.(place);
    } catch (error) {
      this.#metrics.operated('volume_unmount', name, took(), true);
      throw error;
    }
    this.#metrics.operated('volume_unmount', name, took(), false);
    this.#metrics.settled('volume_unmount', name, took());
  }

  /** Nothing is taken down under the hands of who sets it up; one that heeds no abort is named. */
  async #stillness(volumes: PodVolumes | undefined): Promise<void> {
    const running = (): readonly (readonly [string, Promise<void>])[] =>
      [...(volumes?.records ?? [])].flatMap(([name, record]) =>
        record.running ? [[name, record.running] as const] : [],
      );
    if (running().length === 0) return;
    const limit = linkedSignal(undefined, { clock: this.#deps.clock, ms: patienceMs });
    try {
      await raceAbort(Promise.all(running().map(([, operation]) => operation)), limit.signal);
    } catch (cause) {
      const names = running().map(([name]) => name);
      throw new TubeletError('timeout', `volumes are still being set up: ${names.join(', ')}`, { cause });
    } finally {
      limit.release();
    }
  }

  #podVolumes(uid: PodUid): PodVolumes {
    const known = this.#pods.get(uid);
    if (known !== undefined && !known.abort.signal.aborted) return known;
    const made: PodVolumes = { records: new Map(), abort: new AbortController() };
    this.#pods.set(uid, made);
    return made;
  }

  /** The pod's volumes with their kinds. One that nobody knows holds the pod back before anything of it is made. */
  #recognized(
    pod: DesiredPod,
    volumes: PodVolumes,
  ): readonly { readonly volume: Volume; readonly plugin: VolumePlugin }[] {
    const unknown: Volume[] = [];
    const known = wantedVolumes(pod.spec).flatMap((volume) => {
      const plugin = this.#deps.plugins.find((candidate) => candidate.handles(volume));
      if (plugin === undefined) unknown.push(volume);
      return plugin === undefined ? [] : [{ volume, plugin }];
    });
    if (unknown.length === 0) return known;
    const names = unknown.map(({ name }) => name);
    const message = unableToMount(names, names, unknown.map(refusalOf).join(', '));
    const error = new TubeletError('unsupported', message);
    for (const name of names) this.#failed(pod, name, volumes, error);
    throw error;
  }

  /** Has one volume made ready, unless that is under way, done, or to be tried later. Rejects when it is not ready then. */
  async #bring(pod: DesiredPod, volume: Volume, plugin: VolumePlugin, volumes: PodVolumes): Promise<void> {
    const record = this.#recordOf(volumes, volume.name);
    record.plugin ??= pluginName(volume, plugin.folder);
    // One that began before this call may have read what has changed since.
    await record.running;
    if (record.running === undefined && this.#isDue(record, plugin)) {
      record.running = this.#setUp(pod, volume, plugin, volumes, record).finally(() => delete record.running);
    }
    await record.running;
    if (record.mounted === undefined) throw record.failure?.error ?? new TubeletError('cancelled', 'taken down');
  }

  /** Contents that follow objects are cheap to try, and somebody who wakes the pod may know that they can be had now. */
  #isDue({ mounted, failure }: VolumeRecord, plugin: VolumePlugin): boolean {
    if (plugin.follows === true) return true;
    return mounted === undefined && (failure === undefined || failure.nextAtMs <= this.#deps.clock.monotonic());
  }

  async #setUp(
    pod: DesiredPod,
    volume: Volume,
    plugin: VolumePlugin,
    volumes: PodVolumes,
    record: VolumeRecord,
  ): Promise<void> {
    const { signal } = volumes.abort;
    const kind = record.plugin ?? '';
    const began = this.#deps.clock.monotonic();
    const secondsSince = (sinceMs: number): number => (this.#deps.clock.monotonic() - sinceMs) / 1_000;
    try {
      const mounted = await plugin.setUp({ pod, volume }, signal);
      this.#metrics.operated('volume_mount', kind, secondsSince(began), false);
      const isFirst = record.mounted === undefined;
      if (isFirst) this.#metrics.settled('volume_mount', kind, secondsSince(record.wantedSinceMs));
      record.mounted = mounted;
      delete record.failure;
    } catch (error) {
      if (signal.aborted) return;
      this.#metrics.operated('volume_mount', kind, secondsSince(began), true);
      const message = `MountVolume.SetUp failed for volume "${volume.name}" : ${describeError(error)}`;
      this.#failed(pod, volume.name, volumes, new TubeletError(kindOf(error), message, { cause: error }));
    }
  }

  #failed(pod: DesiredPod, name: string, volumes: PodVolumes, error: TubeletError): void {
    const { clock, events, log } = this.#deps;
    const nowMs = clock.monotonic();
    const { message } = error;
    const record = this.#recordOf(volumes, name);
    const before = record.failure;
    record.failure = nextFailure(before, error, nowMs);
    this.#wakeIn(pod.uid, volumes, record.failure.nextAtMs - nowMs);
    if (!isWorthTelling(before, message, nowMs)) return;
    events.record(pod, { type: 'Warning', reason: volumeEvents.failedMount, message });
    log.debug(2, 'Volume cannot be set up', { podUID: pod.uid, volume: name, failures: record.failure.count, message });
  }

  /** What a pod that must wait is told: which volumes, and what was last wrong with one. */
  #waits(pod: DesiredPod, volumes: PodVolumes, error: unknown): TubeletError {
    const { clock, events } = this.#deps;
    const nowMs = clock.monotonic();
    const ready = this.mounted(pod.uid);
    const unmounted = wantedVolumes(pod.spec)
      .map(({ name }) => name)
      .filter((name) => !ready.has(name));
    volumes.waitingSinceMs ??= nowMs;
    const hung = kindOf(error) === 'timeout';
    if (hung || nowMs - volumes.waitingSinceMs >= patienceMs) {
      volumes.waitingSinceMs = nowMs;
      const message = unableToMount(unmounted, [], 'timed out waiting for the condition');
      events.record(pod, { type: 'Warning', reason: volumeEvents.failedMount, message });
    }
    return new TubeletError(kindOf(error), unableToMount(unmounted, [], describeError(error)), { cause: error });
  }

  #recordOf({ records }: PodVolumes, name: string): VolumeRecord {
    const known = records.get(name);
    if (known !== undefined) return known;
    const made: VolumeRecord = { wantedSinceMs: this.#deps.clock.monotonic() };
    records.set(name, made);
    return made;
  }

  #counts(): readonly VolumeCount[] {
    const counts = new Map<string, { wanted: number; mounted: number }>();
    for (const { records } of this.#pods.values()) {
      for (const { plugin, mounted } of records.values()) {
        if (plugin === undefined) continue;
        const count = counts.get(plugin) ?? { wanted: 0, mounted: 0 };
        count.wanted++;
        if (mounted !== undefined) count.mounted++;
        counts.set(plugin, count);
      }
    }
    return [...counts].map(([plugin, count]) => ({ plugin, ...count }));
  }

  /** The earliest wake counts. */
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

/** Waits for all; what failed first is thrown when the others have had their chance. */
async function allDone(works: readonly Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(works);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
