import { changeTree } from './change-tree.ts';
import { contentFiles } from './content-files.ts';
import { hostFiles } from './files.ts';
import type { ForeignStorage } from './foreign-storage.ts';
import { makeFile } from './make-file.ts';
import { hostMounts, mountCalls, mountsBy, type MountCalls } from './mounts.ts';
import { makeBelow, openBelow, type OpenPath } from './open-below.ts';
import { stat } from './path-handle.ts';

const ownPaths = { stat, changeTree };
const makeFolder = (path: string, mode: number): Promise<void> => hostFiles.makeFolder(path, mode);
const paths = { ...ownPaths, makeFolder, makeFile, makeBelow, openBelow };

/** The machine as volumes need it, in this process: for storage that answers. */
export const volumeHost = { files: hostFiles, contents: contentFiles, mounts: hostMounts, paths, ownPaths };

/** The same for paths of storage that may not answer. */
export function volumeHostOn(storage: ForeignStorage): typeof volumeHost {
  return { ...volumeHost, mounts: mountsBy(mountCallsOn(storage)), paths: pathsOn(storage) };
}

function pathsOn(storage: ForeignStorage): typeof paths {
  return {
    stat: (path) => storage.at(path, 'stat', [path], () => stat(path)),
    makeFolder: (path, mode) => storage.at(path, 'makeFolder', [path, mode], () => makeFolder(path, mode)),
    makeFile: (path, mode) => storage.at(path, 'makeFile', [path, mode], () => makeFile(path, mode)),
    makeBelow: (volumePath, subPath) =>
      storage.at(`${volumePath}/${subPath}`, 'makeBelow', [volumePath, subPath], () => makeBelow(volumePath, subPath)),
    async openBelow(volumePath, subPath): Promise<OpenPath> {
      const held = await storage.open(volumePath, subPath);
      if (held === undefined) return openBelow(volumePath, subPath);
      return {
        isFolder: held.isFolder,
        source: held.source,
        isAt: (path) => storage.isAt(held, path),
        close: async () => storage.close(held),
      };
    },
    changeTree: (path, access, signal, processed) =>
      storage.at(path, 'changeTree', [path, access], () => changeTree(path, access, signal, processed), {
        kind: 'tree',
        signal,
        processed,
      }),
  };
}

function mountCallsOn(storage: ForeignStorage): MountCalls {
  return {
    // On folders that only the agent writes to.
    mountNew: (fsType, target, data) => mountCalls.mountNew(fsType, target, data),
    bind: (source, target) => storage.at(source, 'bind', [source, target], () => mountCalls.bind(source, target)),
    change: (target, flags, what, through) =>
      storage.on(through, target, 'change', [target, flags, what], () =>
        mountCalls.change(target, flags, what, through),
      ),
    unmount: (target, through) =>
      storage.on(through, target, 'unmount', [target], () => mountCalls.unmount(target, through), { kind: 'unmount' }),
  };
}
