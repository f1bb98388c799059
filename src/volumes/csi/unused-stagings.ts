import { join } from 'node:path';
import { isKind, messageOf, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Mounts } from '../ports.ts';
import type { CsiFiles, FoundDrivers } from './ports.ts';
import type { Staging } from './staging.ts';
import { decodeStaged } from './volume-data.ts';
import { csiPluginFolder, stagingAt, type DriverVolume, type StagingPlace } from './volume-names.ts';

interface UnusedStagingsDeps {
  readonly log: Log;
  readonly files: CsiFiles;
  readonly mounts: Pick<Mounts, 'atOrBelow'>;
  readonly drivers: FoundDrivers;
  readonly staging: Staging;
  readonly rootDir: string;
}

/** Folders beside those of drivers: of block volumes, and of agents of long ago. */
const otherFolders: ReadonlySet<string> = new Set(['volumeDevices', 'pv']);

/** Volumes that are staged while no pod has them: an agent was killed, or the record of a pod was removed. */
export class UnusedStagings {
  readonly #deps: UnusedStagingsDeps;

  constructor(deps: UnusedStagingsDeps) {
    this.#deps = deps;
  }

  /** All staged volumes, used or not. Removes empty folders without a readable record; no staging may run meanwhile. */
  async found(): Promise<readonly DriverVolume[]> {
    const { log } = this.#deps;
    const reads = (await this.#places()).map(async (place) => {
      const record = await this.#read(place);
      if ('volume' in record) return record.volume;
      try {
        await this.#removeUnreadable(place, record.problem);
      } catch (error) {
        log.warn('Staged volume without a readable record stays', { path: place.folder, err: messageOf(error) });
      }
      return [];
    });
    return (await Promise.all(reads)).flat();
  }

  /** Returns what was unstaged. Runs in parallel, so that a driver that hangs delays only its own. Never rejects. */
  async clear(driver?: string): Promise<readonly DriverVolume[]> {
    try {
      const clears = (await this.#places(driver)).map((place) => this.#clear(place));
      return (await Promise.all(clears)).flatMap((cleared) => cleared ?? []);
    } catch (error) {
      this.#deps.log.error(error, 'Folders of staged volumes cannot be read');
      return [];
    }
  }

  async #places(only?: string): Promise<readonly StagingPlace[]> {
    const { files, rootDir } = this.#deps;
    const top = csiPluginFolder(rootDir);
    const drivers = only === undefined ? await files.list(top) : [only];
    const ofDrivers = drivers
      .filter((driver) => !otherFolders.has(driver))
      .map(async (driver) => (await files.list(join(top, driver))).map((name) => stagingAt(join(top, driver, name))));
    return (await Promise.all(ofDrivers)).flat();
  }

  async #clear(place: StagingPlace): Promise<DriverVolume | undefined> {
    const { drivers, log, staging } = this.#deps;
    try {
      const found = await this.#read(place);
      if (!('volume' in found)) return undefined;
      const { volume } = found;
      return (await staging.clear(volume, drivers.find(volume.driver))) ? volume : undefined;
    } catch (error) {
      // The registration of the missing driver retries this.
      const isEarly = isKind(error, 'unavailable');
      const fields = { path: place.folder, err: messageOf(error) };
      if (isEarly) log.debug(3, 'Staged volume waits for its driver', fields);
      else log.warn('Staged volume that no pod uses stays', fields);
      return undefined;
    }
  }

  async #read(place: StagingPlace): Promise<{ readonly volume: DriverVolume } | { readonly problem: string }> {
    try {
      const volume = decodeStaged(await this.#deps.files.readText(place.data));
      const isItsOwn = this.#deps.staging.placeOf(volume).folder === place.folder;
      return isItsOwn ? { volume } : { problem: `${place.data} names another volume` };
    } catch (error) {
      if (isKind(error, 'notFound')) return { problem: `${place.data} is missing` };
      if (isKind(error, 'invalid')) return { problem: `${place.data} is broken: ${messageOf(error)}` };
      throw error;
    }
  }

  /** An agent may have been killed before it had written the record: then it had not called the driver yet. */
  async #removeUnreadable({ folder, target, data }: StagingPlace, problem: string): Promise<void> {
    const { files, mounts } = this.#deps;
    const [mounted] = await mounts.atOrBelow(folder);
    if (mounted !== undefined) {
      const advice = `unmount it by hand (umount ${mounted}) if no pod uses it`;
      throw new TubeletError('conflict', `${problem}, and ${mounted} is mounted: ${advice}`);
    }
    await files.removeEmpty(target);
    await files.removeFile(data);
    await files.removeEmpty(folder);
  }
}
