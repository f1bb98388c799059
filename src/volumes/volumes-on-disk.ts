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

/** What pods have of a volume, and how a kind takes that down. */
interface Shape {
  readonly operation: VolumeOperation;
  readonly isKept: (plugin: VolumePlugin) => boolean;
  readonly take: (plugin: VolumePlugin, place: VolumePlace) => Promise<void> | undefined;
}

const folders: Shape = {
  operation: 'volume_unmount',
  isKept: (plugin) => plugin.tearDown !== undefined,
  take: (plugin, place) => plugin.tearDown?.(place),
};
const devices: Shape = {
  operation: 'unmap_volume',
  isKept: (plugin) => plugin.tearDownDevice !== undefined,
  take: (plugin, place) => plugin.tearDownDevice?.(place),
};

/**
 * The volumes of pods as their folders tell: `pods/<uid>/volumes/<kind>/<name>`, where a claim goes by the name of its
 * PersistentVolume, and `volumeDevices` for those that are devices. After a restart nobody knows more, and nobody needs to.
 */
export class VolumesOnDisk {
  readonly #deps: VolumesOnDiskDeps;

  constructor(deps: VolumesOnDiskDeps) {
    this.#deps = deps;
  }

  /** Takes all of a pod's volumes down, each by its kind; one that cannot be keeps none of the others. */
  async tearDown(uid: PodUid, isFound: boolean): Promise<void> {
    const { paths } = this.#deps;
    await allDone([
      this.#tearDownIn(paths.volumes(uid), uid, isFound, folders),
      this.#tearDownIn(paths.volumeDevices(uid), uid, isFound, devices),
    ]);
  }

  async #tearDownIn(root: string, uid: PodUid, isFound: boolean, { operation, isKept, take }: Shape): Promise<void> {
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

/** Waits for all; what failed first is thrown when the others have had their chance. */
async function allDone(works: readonly Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(works);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
