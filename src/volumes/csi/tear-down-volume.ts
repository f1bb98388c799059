import { grpcErrorText, describeError, kindOf, TubeletError } from '../../base/errors.ts';
import { podUidFields } from '../../model/pod-log.ts';
import type { VolumePlace } from '../ports.ts';
import type { DriverClient } from './driver-client.ts';
import { isUnknownVolume } from './driver-errors.ts';
import { unmountLeftover, type LeftoverMountDeps } from './leftover-mount.ts';
import type { PodHolds } from './pod-holds.ts';
import type { CsiFiles, FoundDrivers } from './ports.ts';
import type { Staging } from './staging.ts';
import type { PublishedData } from './volume-data.ts';
import type { DriverVolume } from './volume-names.ts';

interface TearDownVolumeDeps extends LeftoverMountDeps {
  readonly files: CsiFiles;
  readonly drivers: FoundDrivers;
  readonly holds: PodHolds;
  readonly staging: Staging;
}

/**
 * Tears a pod's volume down with what is on disk. It may be interrupted at every step: the record is removed last, so that
 * the next try begins anew.
 */
export class TearDownVolume {
  readonly #deps: TearDownVolumeDeps;

  constructor(deps: TearDownVolumeDeps) {
    this.#deps = deps;
  }

  /** Returns the volume if no pod of this node has it any more. */
  async run(place: VolumePlace): Promise<{ readonly unused?: DriverVolume }> {
    const { holds, staging } = this.#deps;
    const record = await holds.read(place);
    if (!('data' in record)) {
      await this.#withoutRecord(place, record.problem);
      return {};
    }
    const { data } = record;
    const client = this.#driver(place, data);
    await this.#unpublish(place, data, client);
    if (data.lifecycle === 'Ephemeral') {
      await holds.drop(place);
      return {};
    }
    try {
      const { wasLast } = await staging.release(data, place, client);
      return wasLast ? { unused: data } : {};
    } catch (error) {
      throw failure('UnmountDevice failed', place, 'attacher.UnmountDevice failed', error);
    }
  }

  #driver(place: VolumePlace, { driver }: PublishedData): DriverClient {
    try {
      return this.#deps.drivers.find(driver);
    } catch (error) {
      throw failure('UnmountVolume.TearDown failed', place, 'Unmounter.TearDownAt failed to get CSI client', error);
    }
  }

  async #unpublish(place: VolumePlace, data: PublishedData, client: DriverClient): Promise<void> {
    const { files, holds, mounts, staging } = this.#deps;
    const { target } = holds.placeOf(place);
    const step = 'UnmountVolume.TearDown failed';
    try {
      await staging.exclusively(data, () => client.unpublish({ volumeId: data.handle, targetPath: target }));
    } catch (error) {
      const isUnpublished = isUnknownVolume(error) && (await mounts.atOrBelow(target)).length === 0;
      if (!isUnpublished) throw failure(step, place, 'Unmounter.TearDownAt failed', error);
    }
    try {
      const log = this.#deps.log.with(podUidFields(place.uid));
      await unmountLeftover({ ...this.#deps, log }, target, client.name);
    } catch (error) {
      throw failure(step, place, 'Unmounter.TearDownAt failed', error);
    }
    const [mounted] = await mounts.atOrBelow(target);
    if (mounted !== undefined) {
      const reason = `${mounted} is still mounted, although driver ${client.name} has answered that it is not`;
      throw failure(step, place, 'Unmounter.TearDownAt failed', new TubeletError('conflict', reason));
    }
    // Removes only an empty target, which some drivers leave behind.
    await files.removeEmpty(target);
  }

  /** Without a record the driver is unknown: removes what is empty, and leaves what is mounted or filled to the operator. */
  async #withoutRecord(place: VolumePlace, problem: string): Promise<void> {
    const { files, holds, mounts } = this.#deps;
    const { folder, target } = holds.placeOf(place);
    const [mounted] = await mounts.atOrBelow(folder);
    const stays = (reason: string, cause?: unknown): TubeletError =>
      new TubeletError(
        'conflict',
        `UnmountVolume.TearDown failed for volume "${place.name}" of pod ${place.uid}: ${problem}, and ${reason}`,
        { cause },
      );
    if (mounted !== undefined) {
      throw stays(`${mounted} is still mounted. Unmount it by hand (umount ${mounted}): what is left then is removed`);
    }
    try {
      await files.removeEmpty(target);
    } catch (error) {
      throw stays(`${target} is not empty. Save what is in it and remove it: what is left then is removed`, error);
    }
    await holds.drop(place);
  }
}

function failure(step: string, { uid, name }: VolumePlace, what: string, error: unknown): TubeletError {
  const cause = error instanceof TubeletError && error.code !== undefined ? grpcErrorText(error) : describeError(error);
  const message = `${step} for volume "${name}" of pod ${uid}: kubernetes.io/csi: ${what}: ${cause}`;
  return new TubeletError(kindOf(error), message, { cause: error });
}
