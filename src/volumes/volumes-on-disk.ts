import type { Clock } from '../base/clock.ts';
import type { PodUid } from '../base/ids.ts';
import type { PodPaths } from '../model/pod-paths.ts';
import type { VolumeHost, VolumePlace, VolumePlugin } from './ports.ts';
import type { VolumeMetrics } from './volume-metrics.ts';

export interface VolumesOnDiskDeps {
  readonly clock: Clock;
  readonly host: Pick<VolumeHost, 'files'>;
  readonly paths: PodPaths;
  readonly plugins: readonly VolumePlugin[];
  readonly metrics: VolumeMetrics;
}

/**
 * The volumes of pods as their folders tell: `pods/<uid>/volumes/<kind>/<name>`, where a claim goes by the name of its
 * PersistentVolume. After a restart nobody knows more, and nobody needs to.
 */
export class VolumesOnDisk {
  readonly #deps: VolumesOnDiskDeps;

  constructor(deps: VolumesOnDiskDeps) {
    this.#deps = deps;
  }

  /** Takes all of a pod's volumes down, each by its kind; one that cannot be keeps none of the others. */
  async tearDown(uid: PodUid, isFound: boolean): Promise<void> {
    const { host, paths, plugins, metrics } = this.#deps;
    const kinds = await host.files.list(paths.volumes(uid));
    const downs = kinds.map(async (folder) => {
      const plugin = plugins.find((candidate) => candidate.folder === folder);
      const names = await host.files.list(`${paths.volumes(uid)}/${folder}`);
      if (isFound) for (const _ of names) metrics.found(plugin !== undefined);
      if (plugin?.tearDown === undefined) return;
      await allDone(names.map((name) => this.#takeDown(plugin, folder, { uid, name })));
    });
    await allDone(downs);
  }

  async #takeDown(plugin: VolumePlugin, folder: string, place: VolumePlace): Promise<void> {
    const { clock, metrics } = this.#deps;
    const name = folder.replace('~', '/');
    const began = clock.monotonic();
    const took = (): number => (clock.monotonic() - began) / 1_000;
    try {
      await plugin.tearDown?.(place);
    } catch (error) {
      metrics.operated('volume_unmount', name, took(), true);
      throw error;
    }
    metrics.operated('volume_unmount', name, took(), false);
    metrics.settled('volume_unmount', name, took());
  }
}

/** Waits for all; what failed first is thrown when the others have had their chance. */
async function allDone(works: readonly Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(works);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
