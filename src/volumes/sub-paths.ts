import { dirname } from 'node:path';
import type { PodUid } from '../base/ids.ts';
import type { Log, LogFields } from '../base/log.ts';
import { isKind, messageOf, TubeletError } from '../base/errors.ts';
import { podUidFields } from '../model/pod-log.ts';
import { maskError, secretTexts } from '../base/mask-errors.ts';
import type { PodPaths } from '../model/pod-paths.ts';
import type { OpenPath, VolumeHost } from './ports.ts';

const folderMode = 0o750;
const fileMode = 0o640;

/** A part of a volume that a container gets instead of the whole. */
export interface SubPath {
  /** Of the mount in the container's spec. */
  readonly mountName: string;
  readonly container: string;
  readonly volumePath: string;
  readonly subPath: string;
  /** Parts of it that may be secret: variables of the container stand for them. */
  readonly values: readonly string[];
  /** Where to bind it; the runtime mounts from there. */
  readonly target: string;
}

interface SubPathsDeps {
  readonly log: Log;
  readonly host: VolumeHost;
  readonly paths: PodPaths;
}

/**
 * Binds subPaths of volumes to paths that only the agent writes to. The runtime gets such a path and never one in the
 * volume: a container could swap a folder there for a link between the agent's check and the runtime's mount.
 */
export class SubPaths {
  readonly #deps: SubPathsDeps;
  readonly #unavailable = new Set<PodUid>();

  constructor(deps: SubPathsDeps) {
    this.#deps = deps;
  }

  async bind(uid: PodUid, part: SubPath): Promise<void> {
    try {
      await this.#bind(uid, part);
    } catch (error) {
      if (isKind(error, 'unavailable')) this.#unavailable.add(uid);
      throw error;
    }
  }

  /** The pods that had to wait because storage did not answer, since the last call. */
  takeWaiting(): readonly PodUid[] {
    const waiting = [...this.#unavailable];
    this.#unavailable.clear();
    return waiting;
  }

  forget(uid: PodUid): void {
    this.#unavailable.delete(uid);
  }

  /** How many pods wait because storage did not answer. */
  size(): number {
    return this.#unavailable.size;
  }

  async #bind(uid: PodUid, part: SubPath): Promise<void> {
    const { paths } = this.#deps.host;
    const mount = `volumeMount "${part.mountName}" of container "${part.container}"`;
    // The kernel would read it up to there.
    if (part.subPath.includes('\0')) throw new TubeletError('invalid', `the subPath of ${mount} has a zero byte`);
    const where = `for ${mount}`;
    const named = { ...podUidFields(uid), containerName: part.container };
    await this.#explained(`failed to create subPath directory ${where}`, part, named, () =>
      paths.makeBelow(part.volumePath, part.subPath),
    );
    await this.#explained(`failed to prepare subPath ${where}`, part, named, async () => {
      const open = await paths.openBelow(part.volumePath, part.subPath);
      try {
        await this.#bindOpen(uid, open, part.target);
      } finally {
        await open.close();
      }
    });
  }

  /** Unmounts all subPaths of a pod. Volumes are torn down only afterwards. */
  async clean(uid: PodUid): Promise<void> {
    const { files, mounts } = this.#deps.host;
    this.#unavailable.delete(uid);
    const folder = this.#deps.paths.subPaths(uid);
    if ((await files.list(folder)).length === 0) return;
    await mounts.release(folder);
    await files.removeTree(folder);
  }

  async #bindOpen(uid: PodUid, open: OpenPath, target: string): Promise<void> {
    const { files, paths, mounts } = this.#deps.host;
    const isBound = (await mounts.atOrBelow(target)).includes(target);
    // The earlier instance of the container bound the same subPath: its mount is used again.
    if (isBound && (await open.isAt(target))) return;
    if (isBound) await mounts.unmount(target);
    await files.removeTree(target);
    const containerFolder = dirname(target);
    for (const folder of [this.#deps.paths.subPaths(uid), dirname(containerFolder), containerFolder]) {
      await files.makeFolder(folder, folderMode);
    }
    if (open.isFolder) await files.makeFolder(target, folderMode);
    else await paths.makeFile(target, fileMode);
    await mounts.bind(open.source, target);
    // The descriptor cannot be swapped; the check covers the path that the mount of it resolved to.
    if (await open.isAt(target)) return;
    await mounts.unmount(target);
    throw new TubeletError('conflict', `${target} did not become what was opened`);
  }

  /** Statuses get the short text. Only the log gets details from inside the volume, unless its storage does not answer. */
  async #explained(message: string, { values }: SubPath, named: LogFields, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const cause = maskError(error, secretTexts(values.flatMap((value) => [value, ...value.split('/')])));
      this.#deps.log.error(cause, message, named);
      if (isKind(cause, 'unavailable')) {
        throw new TubeletError('unavailable', `${message}: ${messageOf(cause)}`, { cause });
      }
      throw new TubeletError('internal', message, { cause });
    }
  }
}
