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
 * Volumes that are made ready once for all pods of the node. Pods hold on to them by what is on record in their folders;
 * the last to let go has them taken down:
 *
 *   absent ──on record──> recorded ──stage──> staged ──last pod──> unstage ──> folder, record ──> absent
 *
 * One at a time for each volume: who comes while one is taken down finds it gone, and has it made anew.
 */
export class Staging {
  readonly #deps: StagingDeps;
  readonly #turns = new KeyedMutex();
  /** In this life of ours. What an earlier one has staged is staged again, which drivers stand. */
  readonly #staged = new Set<string>();

  constructor(deps: StagingDeps) {
    this.#deps = deps;
  }

  placeOf(volume: DriverVolume): StagingPlace {
    return stagingPlace(this.#deps.rootDir, volume);
  }

  /** Stages it, unless that is done. The pod that wants it must be on record already. */
  async ensure(data: StagedData, stage: (target: string) => Promise<void>, signal: AbortSignal): Promise<void> {
    await this.#turns.run(attachableName(data), () => this.#stage(data, stage), signal);
  }

  /** Has the driver do something with a volume while nobody has it do anything else with it: that is ours to see to. */
  alone<T>(volume: DriverVolume, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#turns.run(attachableName(volume), work, signal);
  }

  /** Lets a pod's hold go; with the last one the volume is unstaged before. */
  async release(volume: DriverVolume, place: VolumePlace, client: Unstager): Promise<{ readonly wasLast: boolean }> {
    const { holds } = this.#deps;
    return this.#turns.run(attachableName(volume), async () => {
      const wasLast = (await holds.usersOf(volume, place.name, place)).length === 0;
      if (wasLast) await this.#unstage(volume, client);
      await holds.drop(place);
      return { wasLast };
    });
  }

  /** Takes down what no pod holds any more. Answers whether that was so. */
  async clear(volume: DriverVolume, client: Unstager): Promise<boolean> {
    const { holds } = this.#deps;
    return this.#turns.run(attachableName(volume), async () => {
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
    // What is mounted there already is not ours to change, not even its mode.
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

  /** What the pod is told is why it was not staged. What stays here goes when its hold does. */
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

  /** Only ever what is empty: what a driver left there, mounted or not, is somebody's data. */
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

  /** Half a record counts for none. */
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
