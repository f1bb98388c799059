import { join } from 'node:path';
import { isKind, messageOf, TubeletError } from '../../base/errors.ts';
import { podUid } from '../../base/ids.ts';
import type { PodPaths } from '../../model/pod-paths.ts';
import type { Mounts, VolumePlace } from '../ports.ts';
import type { CsiFiles } from './ports.ts';
import { decodePublished, encodePublished, type PublishedData } from './volume-data.ts';
import { csiFolder, publishPlace, type DriverVolume, type PublishPlace } from './volume-names.ts';

interface PodHoldsDeps {
  readonly files: CsiFiles;
  readonly mounts: Pick<Mounts, 'atOrBelow'>;
  readonly podPaths: PodPaths;
}

/** The record of a volume, or why it cannot be read: it is missing, or incomplete. */
type HoldRecord = { readonly data: PublishedData } | { readonly problem: string; readonly isMissing: boolean };

interface PodHold {
  readonly place: VolumePlace;
  readonly record: HoldRecord;
}

const folderMode = 0o750;
const dataMode = 0o644;

/**
 * Which pods have which volumes, by their folders: `vol_data.json` of a volume is written before the first call to its
 * driver, and removed last. While there is one, tearDown has something to undo, and the volume stays staged.
 */
export class PodHolds {
  readonly #deps: PodHoldsDeps;

  constructor(deps: PodHoldsDeps) {
    this.#deps = deps;
  }

  placeOf({ uid, name }: VolumePlace): PublishPlace {
    return publishPlace(this.#deps.podPaths.volume(uid, csiFolder, name));
  }

  /** Records the volume. Returns true if it was not recorded before: then nothing of it can have been set up. */
  async take(place: VolumePlace, data: PublishedData): Promise<boolean> {
    const { files } = this.#deps;
    const { folder, data: path } = this.placeOf(place);
    const present = await this.read(place);
    if ('data' in present) {
      if (isSame(present.data, data)) return false;
      const { driver, handle } = present.data;
      const message = `${folder} still has the volume ${handle} of the driver ${driver}, which must be torn down first`;
      throw new TubeletError('conflict', message);
    }
    await files.makeFolder(folder, folderMode);
    await files.replaceFile(path, encodePublished(data), dataMode);
    return present.isMissing;
  }

  async read(place: VolumePlace): Promise<HoldRecord> {
    const path = this.placeOf(place).data;
    try {
      return { data: decodePublished(await this.#deps.files.readText(path)) };
    } catch (error) {
      if (isKind(error, 'notFound')) return { problem: `${path} is missing`, isMissing: true };
      if (isKind(error, 'invalid')) return { problem: `${path} is broken: ${messageOf(error)}`, isMissing: false };
      throw error;
    }
  }

  /** All CSI volumes that pods have. Reads nothing inside a volume: its storage may not answer. */
  async all(): Promise<readonly PodHold[]> {
    const { files, podPaths } = this.#deps;
    const uids = await files.list(podPaths.pods);
    const ofPods = uids.map(podUid).map(async (uid) => {
      const names = await files.list(join(podPaths.volumes(uid), csiFolder));
      return Promise.all(names.map(async (name) => ({ place: { uid, name }, record: await this.read({ uid, name }) })));
    });
    return (await Promise.all(ofPods)).flat();
  }

  /** Pods that have the volume, without one of them. `name` is what their folders of it are called, where that is known. */
  async usersOf(volume: DriverVolume, name?: string, except?: VolumePlace): Promise<readonly VolumePlace[]> {
    const users: VolumePlace[] = [];
    for (const { place, record } of await this.all()) {
      if (place.uid === except?.uid && place.name === except.name) continue;
      if ('data' in record ? isSame(record.data, volume) : await this.#mayUse(place, name)) users.push(place);
    }
    return users;
  }

  /** Removes the record with its folder. Fails where anything else is in there. */
  async drop(place: VolumePlace): Promise<void> {
    const { files } = this.#deps;
    const { folder, data } = this.placeOf(place);
    await files.removeFile(data);
    await files.removeEmpty(folder);
  }

  /** An unreadable record counts by the name of its folder, as long as something is mounted there. */
  async #mayUse(place: VolumePlace, name: string | undefined): Promise<boolean> {
    if (name !== undefined && place.name !== name) return false;
    return (await this.#deps.mounts.atOrBelow(this.placeOf(place).folder)).length > 0;
  }
}

function isSame(one: DriverVolume, other: DriverVolume): boolean {
  return one.driver === other.driver && one.handle === other.handle;
}
