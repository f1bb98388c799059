import type { Clock } from '../base/clock.ts';
import type { PodUid } from '../base/ids.ts';
import type { PodPaths } from '../model/pod-paths.ts';
import type { VolumeHost, VolumePlace, VolumePlugin } from './ports.ts';
import type { VolumeMetrics, VolumeOperation } from './volume-metrics.ts';

interface VolumesOnDiskDeps {
  readonly clock: Clock;
  readonly host: Pick<VolumeHost, 'files'>;
  readonly paths: PodPaths;
  readonly plugins: readonly VolumePlugin[];
  readonly metrics: VolumeMetrics;
}

/** Folders or devices: what pods have of a volume, and how a plugin tears that down. */
interface TeardownKind {
  readonly operation: VolumeOperation;
  readonly isKept: (plugin: VolumePlugin) => boolean;
  readonly take: (plugin: VolumePlugin, place: VolumePlace) => Promise<void> | undefined;
}

const folders: TeardownKind = {
  operation: 'volume_unmount',
  isKept: (plugin) => plugin.tearDown !== undefined,
  take: (plugin, place) => plugin.tearDown?.(place),
};
const devices: TeardownKind = {
  operation: 'unmap_volume',
  isKept: (plugin) => plugin.tearDownDevice !== undefined,
  take: (plugin, place) => plugin.tearDownDevice?.(place),
};

/**
 * Finds the volumes of pods by their folders: `pods/<uid>/volumes/<kind>/<name>`, where a claim has the name of its
 * PersistentVolume, and `volumeDevices` for block volumes. After a restart the disk is all that tearDown knows and needs.
 */
export class VolumesOnDisk {
  readonly #deps: VolumesOnDiskDeps;

  constructor(deps: VolumesOnDiskDeps) {
    this.#deps = deps;
  }

  /** Tears all of a pod's volumes down, each by its plugin. A failure of one does not stop the others. */
  async tearDown(uid: PodUid, isFound: boolean): Promise<void> {
    const { paths } = this.#deps;
    await allDone([
      this.#tearDownIn(paths.volumes(uid), uid, isFound, folders),
      this.#tearDownIn(paths.volumeDevices(uid), uid, isFound, devices),
    ]);
  }

  async #tearDownIn(
    root: string,
    uid: PodUid,
    isFound: boolean,
    { operation, isKept, take }: TeardownKind,
  ): Promise<void> {
    const { host, plugins, metrics } = this.#deps;
    const kinds = await host.files.list(root);
    const tearDowns = kinds.map(async (folder) => {
      const plugin = plugins.find((candidate) => candidate.folder === folder);
      const names = await host.files.list(`${root}/${folder}`);
      if (isFound) for (const _ of names) metrics.found(plugin !== undefined);
      if (plugin === undefined || !isKept(plugin)) return;
      await allDone(names.map((name) => this.#tearDownOne(operation, folder, async () => take(plugin, { uid, name }))));
    });
    await allDone(tearDowns);
  }

  async #tearDownOne(operation: VolumeOperation, folder: string, work: () => Promise<void>): Promise<void> {
    const { clock, metrics } = this.#deps;
    const name = folder.replace('~', '/');
    const began = clock.monotonic();
    const took = (): number => (clock.monotonic() - began) / 1_000;
    try {
      await work();
    } catch (error) {
      metrics.operated(operation, name, took(), true);
      throw error;
    }
    metrics.operated(operation, name, took(), false);
    metrics.settled(operation, name, took());
  }
}

/** Waits for all, then throws the first failure. */
async function allDone(works: readonly Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(works);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
