import { dirname, join } from 'node:path';
import { isKind, TubeletError } from '../../base/errors.ts';
import { podUid, type PodUid } from '../../base/ids.ts';
import type { PodPaths } from '../../model/pod-paths.ts';
import type { Mounts, VolumePlace } from '../ports.ts';
import { blockFolder, blockPlace, isReserved, podLink, type BlockPlace } from './block-paths.ts';
import type { BlockDevices } from './block-ports.ts';
import type { CsiFiles } from './ports.ts';
import { decodePublished, encodePublished, type PublishedData } from './volume-data.ts';
import { attachmentName, type DriverVolume } from './volume-names.ts';

export interface BlockRecordsDeps {
  readonly files: CsiFiles;
  readonly mounts: Pick<Mounts, 'atOrBelow'>;
  readonly devices: BlockDevices;
  readonly podPaths: PodPaths;
  /** The agent's own folder. */
  readonly rootDir: string;
  readonly nodeName: string;
}

const folderMode = 0o750;
const dataMode = 0o644;

/**
 * What is on disk of block volumes. The link in the pod's directory comes first and goes last: while it is there, tearDown
 * has something to undo. The links at the volume name the pods that use it. The record is written before the first call to
 * the driver, and removed after the last one.
 */
export class BlockRecords {
  readonly #deps: BlockRecordsDeps;

  constructor(deps: BlockRecordsDeps) {
    this.#deps = deps;
  }

  of(name: string): BlockPlace {
    return blockPlace(this.#deps.rootDir, name);
  }

  /** Where the driver makes the device for one pod. */
  published({ uid, name }: VolumePlace): string {
    return join(this.of(name).published, uid);
  }

  link({ uid, name }: VolumePlace): string {
    return podLink(this.#deps.podPaths, uid, name);
  }

  async names(): Promise<readonly string[]> {
    return (await this.#deps.files.list(blockFolder(this.#deps.rootDir))).filter((name) => !isReserved(name));
  }

  /** The record of a volume. Undefined where it is missing or incomplete: then its driver was never called. */
  async read(name: string): Promise<PublishedData | undefined> {
    try {
      return decodePublished(await this.#deps.files.readText(this.of(name).data));
    } catch (error) {
      if (isKind(error, 'notFound', 'invalid')) return undefined;
      throw error;
    }
  }

  async put(place: VolumePlace, { driver, handle }: DriverVolume): Promise<void> {
    const { devices, files, nodeName } = this.#deps;
    const { name, uid } = place;
    const { folder, dataFolder, data, users } = this.of(name);
    const present = await this.read(name);
    if (present !== undefined && (present.driver !== driver || present.handle !== handle)) {
      const message = `${folder} still has the volume ${present.handle} of the driver ${present.driver}`;
      throw new TubeletError('conflict', `${message}, which must be torn down first`);
    }
    const link = this.link(place);
    await files.makeFolder(dirname(link), folderMode);
    await devices.link(link, this.published(place));
    if (present === undefined) {
      const attachment = attachmentName({ driver, handle }, nodeName);
      const record: PublishedData = { driver, handle, name, nodeName, attachment, lifecycle: 'Persistent' };
      await files.makeFolder(dataFolder, folderMode);
      await files.replaceFile(data, encodePublished(record), dataMode);
    }
    await files.makeFolder(users, folderMode);
    await devices.link(join(users, uid), this.published(place));
  }

  async users(name: string): Promise<readonly PodUid[]> {
    const { files } = this.#deps;
    const { users, published } = this.of(name);
    return [...new Set([...(await files.list(users)), ...(await files.list(published))])].map(podUid);
  }

  async hasLink(place: VolumePlace): Promise<boolean> {
    return (await this.#deps.files.list(dirname(this.link(place)))).includes(place.name);
  }

  /** The folder that a driver stages in. Does not change a mounted folder, not even its mode: it is the driver's. */
  async makeStaging(name: string): Promise<void> {
    const { files, mounts } = this.#deps;
    const { staging } = this.of(name);
    if ((await mounts.atOrBelow(staging)).length === 0) await files.makeFolder(staging, folderMode);
  }

  async hasStaging(name: string): Promise<boolean> {
    return (await this.#deps.files.list(dirname(this.of(name).staging))).includes(name);
  }

  async makePublished(name: string): Promise<void> {
    await this.#deps.files.makeFolder(this.of(name).published, folderMode);
  }

  /** The record was removed, so the driver is unknown. Throws unless nothing of the volume is left. */
  async requireNothing(place: VolumePlace): Promise<void> {
    const { files } = this.#deps;
    const { data, published, staging } = this.of(place.name);
    const left = [
      ...((await files.list(published)).includes(place.uid) ? [this.published(place)] : []),
      ...((await this.hasStaging(place.name)) ? [staging] : []),
    ];
    if (left.length === 0) return;
    const message = `${data} cannot be read, and ${left.join(' and ')} must be removed by hand`;
    throw new TubeletError('conflict', message);
  }

  /** The driver has unpublished the pod's device. */
  async dropUser(place: VolumePlace): Promise<void> {
    const { devices } = this.#deps;
    await this.#requireUnmounted(this.published(place));
    await devices.removePlaceholder(this.published(place));
    await devices.unlink(join(this.of(place.name).users, place.uid));
  }

  /** No pod has it any more, and it is not staged. */
  async dropVolume(name: string): Promise<void> {
    const { files } = this.#deps;
    const { data, dataFolder, folder, published, staging, users } = this.of(name);
    await this.#requireUnmounted(staging);
    await files.removeTree(staging);
    for (const empty of [published, users]) await files.removeEmpty(empty);
    await files.removeFile(data);
    for (const empty of [dataFolder, folder]) await files.removeEmpty(empty);
  }

  async dropLink(place: VolumePlace): Promise<void> {
    await this.#deps.devices.unlink(this.link(place));
  }

  async #requireUnmounted(path: string): Promise<void> {
    const [mounted] = await this.#deps.mounts.atOrBelow(path);
    if (mounted === undefined) return;
    throw new TubeletError('conflict', `${mounted} is still mounted, although its driver should have taken it away`);
  }
}
