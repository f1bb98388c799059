import type { Component } from '../../base/component.ts';
import type { PodUid } from '../../base/ids.ts';
import type { ClaimedVolume } from '../claims/claimed-volume.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import { countPods, dropPod, placeKey } from '../pod-places.ts';
import type { CsiVolumes, MountedVolume, VolumePlace, VolumeRequest } from '../ports.ts';
import type { CsiFileVolumesDeps } from './csi-volumes-deps.ts';
import { mayBeAttached } from './driver-objects.ts';
import { isAttachRequired } from './driver-spec.ts';
import { PodHolds } from './pod-holds.ts';
import { SetUpVolume, type PublishedVolume } from './set-up-volume.ts';
import { Staging } from './staging.ts';
import { TearDownVolume } from './tear-down-volume.ts';
import { UnusedStagings } from './unused-stagings.ts';
import { attachableName, type DriverVolume } from './volume-names.ts';
import { csiVolumeSpec } from './volume-spec.ts';

/**
 * Volumes of CSI drivers with file systems.
 *
 *   absent ──attached──> hold on disk ──stage, once per volume──> staged ──publish, per pod──> published
 *      ^───── hold, folder <── unstage, after the last pod <── unpublish ──────────────────────┘
 *
 * The disk is the state: what is in memory only saves calls that this process has made already.
 */
export class CsiFileVolumes implements CsiVolumes, Component {
  readonly name = 'csi volumes';
  readonly #deps: CsiFileVolumesDeps;
  readonly #holds: PodHolds;
  readonly #setUps: SetUpVolume;
  readonly #tearDowns: TearDownVolume;
  readonly #unused: UnusedStagings;
  /** A pod may have one volume under two names. */
  readonly #mutex = new KeyedMutex();
  /** By pod and folder. */
  readonly #published = new Map<string, PublishedVolume>();
  /** Volumes that must not be detached, by the names that the node's status has for them; unset before the disk was read. */
  #inUse: Map<string, DriverVolume> | undefined;

  constructor(deps: CsiFileVolumesDeps) {
    this.#deps = deps;
    this.#holds = new PodHolds(deps);
    const parts = { ...deps, holds: this.#holds, staging: new Staging({ ...deps, holds: this.#holds }) };
    this.#setUps = new SetUpVolume(parts);
    this.#tearDowns = new TearDownVolume(parts);
    this.#unused = new UnusedStagings(parts);
  }

  /** Reads what an earlier process left. Runs before pods sync, so that no volume that is being set up counts as incomplete. */
  async start(): Promise<void> {
    const [holds, staged] = [await this.#holds.all(), await this.#unused.found()];
    const held = holds.flatMap(({ record }) =>
      'data' in record && record.data.lifecycle === 'Persistent' ? [record.data] : [],
    );
    const found = [...held, ...staged].map(({ driver, handle }) => ({ driver, handle }));
    this.#inUse = new Map(found.map((volume) => [attachableName(volume), volume]));
    // Drivers register later; `cleanUp` runs again for each of them.
    void this.cleanUp();
  }

  async stop(): Promise<void> {}

  /** Unstages volumes that no pod has any more, of one driver or of all that are registered. Never rejects. */
  async cleanUp(driver?: string): Promise<void> {
    for (const volume of await this.#unused.clear(driver)) this.#inUse?.delete(attachableName(volume));
  }

  /** Volumes that a controller must not detach from this node; undefined before the disk was read. */
  inUse(): readonly string[] | undefined {
    if (this.#inUse === undefined) return undefined;
    return [...this.#inUse].flatMap(([name, { driver }]) =>
      mayBeAttached(this.#deps.cluster?.objects, driver) ? [name] : [],
    );
  }

  attachable({ source }: ClaimedVolume): string | undefined {
    if (source.kind !== 'csi' || this.#deps.cluster === undefined) return undefined;
    const { driver, volumeHandle: handle } = source.csi;
    return isAttachRequired(this.#deps.cluster.objects.get(driver)) ? attachableName({ driver, handle }) : undefined;
  }

  async setUp(request: VolumeRequest, signal: AbortSignal): Promise<MountedVolume> {
    const spec = csiVolumeSpec(request);
    const key = placeKey({ uid: request.pod.uid, name: spec.name });
    const work = async (): Promise<MountedVolume> => {
      const before = this.#published.get(key);
      const renewAtMs = before?.mounted.renewAtMs ?? Infinity;
      if (before !== undefined && this.#deps.clock.monotonic() < renewAtMs) return before.mounted;
      const published = await this.#setUps.run(request, spec, before, () => this.#markInUse(spec), signal);
      this.#published.set(key, published);
      return published.mounted;
    };
    return this.#mutex.run(key, work, signal);
  }

  /** Skips a volume that this process has not set up: `whileMounting` expands it then. */
  async resize(request: VolumeRequest, before: ClaimedVolume, signal: AbortSignal): Promise<void> {
    const key = placeKey({ uid: request.pod.uid, name: csiVolumeSpec(request).name });
    const grow = async (): Promise<void> => {
      const published = this.#published.get(key);
      if (published !== undefined) await this.#deps.expander?.online(request, before, published.place, signal);
    };
    await this.#mutex.run(key, grow, signal);
  }

  tearDown(place: VolumePlace): Promise<void> {
    return this.#mutex.run(placeKey(place), async () => {
      this.#published.delete(placeKey(place));
      const { unused } = await this.#tearDowns.run(place);
      if (unused === undefined) return;
      this.#inUse?.delete(attachableName(unused));
      this.#deps.expander?.forget(place.name);
    });
  }

  /** Volumes that an earlier process published are not here, and are published again. */
  forget(uid: PodUid): void {
    dropPod(this.#published, uid);
  }

  /** How many pods have volumes that this process has published. */
  size(): number {
    return countPods(this.#published.keys());
  }

  /** How many pods have operations under way. */
  podsUnderWay(): number {
    return countPods(this.#mutex.keys());
  }

  #markInUse({ driver, handle, lifecycle }: DriverVolume & { readonly lifecycle: string }): void {
    if (lifecycle === 'Persistent') this.#inUse?.set(attachableName({ driver, handle }), { driver, handle });
  }
}
