import { join } from 'node:path';
import { describeError, kindOf } from '../../base/errors.ts';
import type { LocalVolumeSource } from '../../gen/kubernetes/types.ts';
import type { MountPrograms, VolumeHost } from '../ports.ts';
import { VolumeStepError } from '../volume-failures.ts';

const folderMode = 0o750;
const usualFsType = 'ext4';
/** An unmount has no deadline: writing back the page cache to a slow disk may take minutes. */
const never = new AbortController().signal;

interface LocalDevicesDeps {
  readonly host: Pick<VolumeHost, 'files' | 'mounts'>;
  readonly programs: MountPrograms;
  /** One folder per volume, in which its device is mounted. */
  readonly folder: string;
}

/**
 * File systems on disks behind local volumes: mounted once, for all pods that use them, and unmounted after the last. A
 * device is mounted as it is and never formatted: one without a file system may hold data all the same.
 */
export class LocalDevices {
  readonly #deps: LocalDevicesDeps;

  constructor(deps: LocalDevicesDeps) {
    this.#deps = deps;
  }

  /** Returns where it is mounted. */
  async mount(
    name: string,
    { path: device, fsType = usualFsType }: LocalVolumeSource,
    options: readonly string[],
    signal: AbortSignal,
  ): Promise<string> {
    const { host, programs } = this.#deps;
    const target = join(this.#deps.folder, name);
    if ((await host.mounts.atOrBelow(target)).includes(target)) return target;
    await host.files.makeFolder(target, folderMode);
    try {
      await programs.mount({ fsType, source: device, target, options }, signal);
    } catch (error) {
      signal.throwIfAborted();
      const message =
        `local: failed to mount device ${device} at ${target} (fstype: ${fsType}), error ${describeError(error)}\n` +
        'A device is never formatted by this agent: it must have its file system already';
      throw new VolumeStepError('MountVolume.MountDevice failed', kindOf(error), message);
    }
    return target;
  }

  /** What is not mounted is fine, and so is a volume that is no device. */
  async unmount(name: string): Promise<void> {
    const { host, programs } = this.#deps;
    const target = join(this.#deps.folder, name);
    while ((await host.mounts.atOrBelow(target)).includes(target)) {
      await programs.unmount(target, { force: false }, never);
    }
    await host.files.removeEmpty(target);
  }
}
