import { join } from 'node:path';
import { messageOf, TubeletError } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Random } from '../../base/random.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { uidOfLogFolder, type PodPaths } from '../../model/pod-paths.ts';
import type { Files } from './ports.ts';

interface PodDirectoriesDeps {
  readonly files: Files;
  readonly random: Random;
  readonly paths: PodPaths;
  /** Unmounts what is mounted in the pod's directory. */
  readonly beforeRemoval: (uid: PodUid) => Promise<void>;
  /** The pod's directory was removed, and the records in it. */
  readonly onRemoved: (uid: PodUid) => void;
}

const folderMode = 0o750;
const logFolderMode = 0o755;
/** A hosts file every process of the pod may read, and a message file every process may write. */
const hostsMode = 0o644;
const terminationLogMode = 0o666;
/** Far more than a node has pods. */
const maxUids = 10_000;

/** Makes and removes the agent's own files of a pod: its directory tree, hosts file, message files, log folders. */
export class PodDirectories {
  readonly #deps: PodDirectoriesDeps;
  /** Removals under way: a disk may be slow, and a pod may come back under its uid meanwhile. */
  readonly #removals = new Map<PodUid, Promise<void>>();

  constructor(deps: PodDirectoriesDeps) {
    this.#deps = deps;
  }

  /** The folders that must be there before volumes and containers. Waits for a removal of the same pod to end. */
  async prepare(uid: PodUid): Promise<void> {
    const { files, paths } = this.#deps;
    // A removal that failed is the remover's to retry: what is left does not hinder the new folders.
    await this.#removals.get(uid)?.catch(() => undefined);
    for (const path of [paths.pod(uid), paths.volumes(uid), paths.plugins(uid)])
      await files.makeFolder(path, folderMode);
  }

  async writeHosts(uid: PodUid, content: string): Promise<string> {
    const path = this.#deps.paths.etcHosts(uid);
    await this.#deps.files.writeFile(path, content, hostsMode);
    return path;
  }

  /** The folder of a container's own files. */
  async makeContainerFolder(uid: PodUid, container: string): Promise<void> {
    await this.#deps.files.makeFolder(this.#deps.paths.container(uid, container), folderMode);
  }

  /** A new file for the termination message in the container's folder. */
  async makeTerminationLog(uid: PodUid, container: string): Promise<string> {
    const { files, paths, random } = this.#deps;
    const path = join(paths.container(uid, container), random.hex(4));
    await files.writeFile(path, '', terminationLogMode);
    return path;
  }

  /** Makes the folder of a container's logs; returns the highest restart count that has logs there. */
  async prepareLogs(pod: DesiredPod, container: string): Promise<number | undefined> {
    const { files, paths } = this.#deps;
    await files.makeFolder(paths.podLogs(pod), logFolderMode);
    const folder = join(paths.podLogs(pod), container);
    await files.makeFolder(folder, logFolderMode);
    let highest: number | undefined;
    await files.list(folder, (name) => {
      const count = restartCountOf(name);
      if (count !== undefined) highest = Math.max(highest ?? 0, count);
      return false;
    });
    return highest;
  }

  readNodeHosts(): Promise<string> {
    return this.#deps.files.readText('/etc/hosts');
  }

  /** Removes all files of the pod, logs included. Fails while a volume is mounted, so that its content is not removed. */
  async remove(uid: PodUid): Promise<void> {
    const removal = this.#remove(uid);
    this.#removals.set(uid, removal);
    try {
      await removal;
    } finally {
      this.#removals.delete(uid);
    }
  }

  async #remove(uid: PodUid): Promise<void> {
    const { files, paths } = this.#deps;
    await this.#deps.beforeRemoval(uid);
    await this.#removeVolumeFolders(uid);
    await files.removeTree(paths.pod(uid));
    // Before a caller that waits for the removal goes on: a pod that comes back begins without a record.
    this.#deps.onRemoved(uid);
    const own = await files.list(paths.logs, (folder) => uidOfLogFolder(folder) === uid);
    for (const folder of own) await files.removeTree(join(paths.logs, folder));
  }

  /**
   * All volumes have been torn down before. What is in a volume folder all the same cannot be torn down here: a mount, or
   * files that were written where a mount should have been. It is reported, and left in place.
   */
  async #removeVolumeFolders(uid: PodUid): Promise<void> {
    const { files, paths } = this.#deps;
    const left: string[] = [];
    for (const kind of (await files.list(paths.volumes(uid))).toSorted()) {
      const folder = join(paths.volumes(uid), kind);
      if (!isNotEmpty(await this.#tryToRemove(folder))) continue;
      for (const name of (await files.list(folder)).toSorted()) {
        const problem = await this.#tryToRemove(join(folder, name));
        if (problem !== undefined) left.push(`${join(folder, name)} ${describeLeftover(problem)}`);
      }
    }
    if (left.length > 0) throw new TubeletError('conflict', `volumes are left: ${left.join(', ')}`);
  }

  /** Returns why it could not. A link is no folder: its target is left alone, and the link is removed with the tree. */
  async #tryToRemove(folder: string): Promise<string | undefined> {
    try {
      await this.#deps.files.removeEmpty(folder);
    } catch (error) {
      const problem = messageOf(error);
      if (!problem.startsWith('ENOTDIR')) return problem;
    }
    return undefined;
  }

  uids(): Promise<ReadonlySet<string>> {
    return podsOnDisk(this.#deps.files, this.#deps.paths);
  }

  /** How many pods are being removed. */
  size(): number {
    return this.#removals.size;
  }
}

/** Pods that have a directory or logs on this node. Of very many only some, until those have been removed. */
export async function podsOnDisk(files: Files, paths: PodPaths): Promise<ReadonlySet<string>> {
  const uids = new Set(await files.list(paths.pods));
  await files.list(paths.logs, (folder) => {
    const uid = uidOfLogFolder(folder);
    if (uid !== undefined && uids.size < maxUids) uids.add(uid);
    return false;
  });
  return uids;
}

const isNotEmpty = (problem: string | undefined): boolean => problem?.startsWith('ENOTEMPTY') === true;

function describeLeftover(problem: string): string {
  if (problem.startsWith('EBUSY')) return 'is still mounted';
  return isNotEmpty(problem) ? 'is not empty' : `cannot be removed: ${problem}`;
}

/** Of file names like `3.log` and `3.log.20261115-101112.gz`. No container has been restarted as often as a longer number. */
function restartCountOf(name: string): number | undefined {
  const count = /^(\d{1,9})\.log/.exec(name)?.[1];
  return count === undefined ? undefined : Number(count);
}
