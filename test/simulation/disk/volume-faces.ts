import { basename, dirname, join, normalize } from 'node:path';
import { TubeletError } from '../../../src/base/errors.ts';
import type { FileAccess, FileFacts } from '../../../src/model/file-facts.ts';
import { changeFor } from '../../../src/model/group-access.ts';
import type { ContentFiles, HostPaths, MountPrograms, Mounts, VolumeHost } from '../../../src/volumes/index.ts';
import { Inode } from './inode.ts';
import type { Place } from './mount-table.ts';
import type { SimDisk } from './sim-disk.ts';

/** The machine as volumes see it, taking the same steps as the real adapters do. */
export function simVolumeHost(disk: SimDisk): VolumeHost {
  const paths = pathsOn(disk);
  return { files: disk, contents: contentsOn(disk), paths, ownPaths: paths, mounts: mountsOn(disk) };
}

const linkInTheMaking = '..data_tmp';

function contentsOn(disk: SimDisk): ContentFiles {
  const give = (path: string, inode: Inode, { mode, uid = 0, gid = 0 }: FileAccess): void => {
    if (uid !== 0 || gid !== 0) disk.step('chown', path, () => Object.assign(inode, { uid, gid }));
    disk.step('chmod', path, () => Object.assign(inode, { mode }));
  };
  return {
    readLink: async (path) => {
      const found = disk.table.walk(path, { followLast: false })?.inode;
      return found?.kind === 'link' ? found.target : undefined;
    },
    readTree: async (path) => {
      const files = disk.table.walk(path)?.inode.files() ?? new Map<string, Inode>();
      return new Map(
        [...files].map(([name, { content, mode, uid, gid }]) => [
          name,
          { content: Buffer.from(content), mode, uid, gid },
        ]),
      );
    },
    async makeFolder(path, access) {
      disk.fault('makeContentFolder', path);
      give(path, disk.create(path, 'folder', 0o600), access);
    },
    async writeFile(path, { content, ...access }) {
      disk.fault('writeContent', path);
      const file = disk.create(path, 'file', 0o600);
      const text = Buffer.from(content).toString();
      // A large file is written in pieces: whoever dies in between leaves half of it.
      for (const part of [text.slice(0, text.length / 2), text]) {
        disk.step('write', path, () => {
          file.content = part;
        });
      }
      give(path, file, access);
    },
    async replaceLink(path, target, { uid = 0, gid = 0 }) {
      disk.fault('replaceLink', path);
      const folder = disk.folder(dirname(path));
      const making = join(dirname(path), linkInTheMaking);
      if (folder.children.has(linkInTheMaking)) disk.unlink(making);
      const link = disk.create(making, 'link', 0o777);
      link.target = target;
      Object.assign(link, { uid, gid });
      disk.step('rename', path, () => {
        folder.drop(basename(path));
        folder.drop(linkInTheMaking);
        folder.add(basename(path), link);
      });
    },
    async unlink(path) {
      disk.fault('unlink', path);
      disk.unlink(path);
    },
  };
}

const factsOf = ({ kind, mode, uid, gid }: Inode): FileFacts => ({ kind, mode, uid, gid });

function pathsOn(disk: SimDisk): HostPaths {
  /** Where a part of a volume is; what leads out of the volume is refused. */
  const inside = (volumePath: string, subPath: string): Place | undefined => {
    const [volume, part] = [disk.place(volumePath), disk.table.walk(join(volumePath, subPath))];
    if (part === undefined || part.inode.isWithin(volume.inode)) return part;
    throw new TubeletError('denied', `subpath "${subPath}" not within volume path "${volumePath}"`);
  };
  return {
    stat: async (path) => {
      const found = disk.table.walk(path)?.inode;
      return found && factsOf(found);
    },
    makeFolder: (path, mode) => disk.makeFolder(path, mode),
    async makeFile(path, mode) {
      disk.fault('makeFile', path);
      if (!disk.has(path)) disk.create(path, 'file', mode);
    },
    async changeTree(path, access) {
      disk.fault('changeTree', path);
      const top = disk.table.walk(path)?.inode;
      if (top === undefined) return;
      for (const entry of [...top.below(), top]) {
        const change = changeFor(access, factsOf(entry));
        if (change !== undefined) disk.step('chown', path, () => Object.assign(entry, change));
      }
    },
    async makeBelow(volumePath, subPath) {
      disk.fault('makeBelow', join(volumePath, subPath));
      if (inside(volumePath, subPath) !== undefined) return;
      const { mode } = disk.place(volumePath).inode;
      let at = volumePath;
      for (const name of subPath.split('/')) {
        at = join(at, name);
        if (!disk.has(at)) disk.create(at, 'folder', mode);
      }
    },
    async openBelow(volumePath, subPath) {
      const place = inside(volumePath, subPath);
      if (place === undefined) throw new TubeletError('notFound', `${subPath} is not there`);
      const { source, close } = disk.table.open(place);
      return {
        isFolder: place.inode.kind === 'folder',
        source,
        isAt: async (path) => disk.table.walk(path)?.inode === place.inode,
        close: async () => close(),
      };
    },
  };
}

function mountsOn(disk: SimDisk): Mounts {
  const unmount = (target: string): void => {
    disk.fault('unmount', target);
    const path = normalize(target);
    for (const mount of disk.table.atOrBelow(path)) if (mount.path === path) disk.unmount(mount);
  };
  return {
    async mount(fsType, target, options) {
      disk.fault('mount', target);
      // As the kernel makes it when nobody says otherwise.
      disk.mount(target, new Inode({ kind: fsType, name: target }, 'folder', 0o1777), options);
    },
    async bind(source, target) {
      disk.fault('bind', target);
      disk.mount(target, disk.place(source).inode, []);
    },
    async restrict(target, options) {
      disk.fault('restrict', target);
      const mount = disk.table.atOrBelow(normalize(target)).findLast(({ path }) => path === normalize(target));
      if (mount === undefined || options.every((option) => mount.options.includes(option))) return;
      disk.step('remount', target, () => {
        mount.options = [...mount.options, ...options];
      });
    },
    unmount: async (target) => unmount(target),
    async release(path) {
      for (const mount of disk.table.atOrBelow(normalize(path))) unmount(mount.path);
    },
    atOrBelow: async (path) => [...new Set(disk.table.atOrBelow(normalize(path)).map((mount) => mount.path))],
  };
}

/** mount(8) and umount(8): what a source holds outlives every mount of it. */
export function simMountPrograms(disk: SimDisk, sources: ReadonlyMap<string, Inode>): MountPrograms {
  return {
    async mount({ source, target, options }) {
      disk.fault('run mount', target);
      const root = sources.get(source);
      if (root === undefined) throw new TubeletError('unavailable', `mount failed: no such source: ${source}`);
      disk.mount(target, root, options);
    },
    async unmount(target) {
      disk.fault('run umount', target);
      const [mount] = disk.table.atOrBelow(normalize(target)).filter(({ path }) => path === normalize(target));
      if (mount !== undefined) disk.unmount(mount);
    },
  };
}
