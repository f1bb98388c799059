import { isKind, messageOf, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import type { Mounts, VolumePlace } from '../ports.ts';
import type { DriverClient } from './driver-client.ts';
import { isUncertain, isUnknownVolume } from './driver-errors.ts';
import type { PodHolds } from './pod-holds.ts';
import type { CsiFiles } from './ports.ts';
import { decodeStaged, encodeStaged, type StagedData } from './volume-data.ts';
import { attachableName, stagingPlace, type DriverVolume, type StagingPlace } from './volume-names.ts';

interface StagingDeps {
  readonly log: Log;
  readonly files: CsiFiles;
  readonly mounts: Pick<Mounts, 'atOrBelow'>;
  readonly holds: Pick<PodHolds, 'usersOf' | 'drop'>;
  /** The agent's own folder. */
  readonly rootDir: string;
}

type Unstager = Pick<DriverClient, 'capabilities' | 'unstage'>;

const folderMode = 0o750;
const dataMode = 0o644;

/**
 * Volumes that are staged once for all pods of the node. The records in the pods' folders hold them; the release of the
 * last hold unstages:
 *
 *   absent ──write record──> recorded ──stage──> staged ──last pod──> unstage ──> remove folder, record ──> absent
 *
 * One operation at a time for each volume: a pod that comes during an unstage waits for it, and has the volume staged anew.
 */
export class Staging {
  readonly #deps: StagingDeps;
  readonly #mutex = new KeyedMutex();
  /** Staged by this process. Volumes that an earlier one staged are staged again: NodeStageVolume is idempotent. */
  readonly #staged = new Set<string>();

  constructor(deps: StagingDeps) {
    this.#deps = deps;
  }

  placeOf(volume: DriverVolume): StagingPlace {
    return stagingPlace(this.#deps.rootDir, volume);
  }

  /** Stages it, unless that is done. The pod's hold must be recorded already. */
  async ensure(data: StagedData, stage: (target: string) => Promise<void>, signal: AbortSignal): Promise<void> {
    await this.#mutex.run(attachableName(data), () => this.#stage(data, stage), signal);
  }

  /** Runs one driver call on a volume at a time: CSI leaves that to the agent. */
  exclusively<T>(volume: DriverVolume, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#mutex.run(attachableName(volume), work, signal);
  }

  /** Releases a pod's hold; unstages the volume before the last one. */
  async release(volume: DriverVolume, place: VolumePlace, client: Unstager): Promise<{ readonly wasLast: boolean }> {
    const { holds } = this.#deps;
    return this.#mutex.run(attachableName(volume), async () => {
      const wasLast = (await holds.usersOf(volume, place.name, place)).length === 0;
      if (wasLast) await this.#unstage(volume, client);
      await holds.drop(place);
      return { wasLast };
    });
  }

  /** Unstages a volume that no pod holds any more. Returns whether it did. */
  async clear(volume: DriverVolume, client: Unstager): Promise<boolean> {
    const { holds } = this.#deps;
    return this.#mutex.run(attachableName(volume), async () => {
      if ((await holds.usersOf(volume)).length > 0) return false;
      await this.#unstage(volume, client);
      return true;
    });
  }

  async #stage(data: StagedData, stage: (target: string) => Promise<void>): Promise<void> {
    if (this.#staged.has(attachableName(data))) return;
    const { files, mounts } = this.#deps;
    const place = this.placeOf(data);
    const isNew = !(await this.#isRecorded(place));
    // A folder that is mounted on is the driver's: not even its mode is changed.
    if ((await mounts.atOrBelow(place.target)).length === 0) await files.makeFolder(place.target, folderMode);
    if (isNew) await files.replaceFile(place.data, encodeStaged(data), dataMode);
    try {
      await stage(place.target);
    } catch (error) {
      if (isNew && !isUncertain(error)) await this.#undo(place);
      throw error;
    }
    this.#staged.add(attachableName(data));
  }

  /** The pod's event reports why staging failed. What stays here goes with the pod's hold. */
  async #undo(place: StagingPlace): Promise<void> {
    try {
      await this.#remove(place);
    } catch (error) {
      this.#deps.log.warn('Folder of a volume that could not be staged stays', {
        path: place.folder,
        err: messageOf(error),
      });
    }
  }

  async #unstage(volume: DriverVolume, client: Unstager): Promise<void> {
    const { files, mounts } = this.#deps;
    const place = this.placeOf(volume);
    this.#staged.delete(attachableName(volume));
    const isThere = (await files.list(place.folder)).length > 0;
    if (isThere && (await client.capabilities()).has('STAGE_UNSTAGE_VOLUME')) {
      try {
        await client.unstage({ volumeId: volume.handle, stagingTargetPath: place.target });
      } catch (error) {
        if (!isUnknownVolume(error) || (await mounts.atOrBelow(place.target)).length > 0) throw error;
      }
    }
    await this.#remove(place);
  }

  /** Removes only what is empty: what a driver left there, mounted or not, may be data. */
  async #remove({ folder, target, data }: StagingPlace): Promise<void> {
    const { files, mounts } = this.#deps;
    const [mounted] = await mounts.atOrBelow(folder);
    if (mounted !== undefined) {
      throw new TubeletError(
        'conflict',
        `${mounted} is still mounted, although its driver has answered that it is not`,
      );
    }
    await files.removeEmpty(target);
    await files.removeFile(data);
    await files.removeEmpty(folder);
  }

  /** An incomplete record counts as none. */
  async #isRecorded({ data }: StagingPlace): Promise<boolean> {
    try {
      decodeStaged(await this.#deps.files.readText(data));
      return true;
    } catch (error) {
      if (isKind(error, 'notFound', 'invalid')) return false;
      throw error;
    }
  }
}
