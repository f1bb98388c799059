import { dirname, join, normalize } from 'node:path';
import { TubeletError } from '../base/errors.ts';
import type { FileAccess, ContentFile, FileFacts } from '../model/file-facts.ts';
import { changeFor } from '../model/group-access.ts';
import type { ContentFiles, HostPaths, MountPrograms, Mounts, VolumeHost } from '../volumes/index.ts';
import type { MemoryEntry, MemoryFiles } from './memory-files.ts';

/** The machine as volumes see it, over a disk in memory. Every change runs the disk's `fault` first. */
export function memoryVolumeHost(files: MemoryFiles): VolumeHost {
  const paths = pathsOn(files);
  return { files, contents: contentsOn(files), paths, ownPaths: paths, mounts: mountsOn(files) };
}

const bytes = (content: string | Uint8Array): Uint8Array =>
  typeof content === 'string' ? Buffer.from(content) : content;

/** mount(8) and umount(8) on the same disk: what a source holds is at `/on/<source>`. They may be made to hang. */
export function memoryMountPrograms(disk: MemoryFiles): MountPrograms & { hang: (operation: string) => boolean } {
  const ended = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  return {
    hang: () => false,
    async mount({ fsType, source, target, options }, signal) {
      disk.fault('run mount', target);
      if (this.hang('mount')) await ended(signal);
      if (!disk.has(target)) throw new TubeletError('unavailable', `mount failed: no such folder: ${target}`);
      disk.mounts.set(target, [`bind /on/${source}`, `-t ${fsType}`, ...options]);
    },
    async unmount(target, { force }, signal) {
      disk.fault(force ? 'run umount -f' : 'run umount', target);
      if (this.hang(force ? 'umount -f' : 'umount')) await ended(signal);
      disk.mounts.delete(target);
    },
  };
}

function contentsOn(disk: MemoryFiles): ContentFiles {
  const requireFolder = (path: string): void => {
    if (!disk.has(dirname(path))) throw new TubeletError('notFound', `no such folder: ${dirname(path)}`);
  };
  return {
    readLink: async (path) => disk.entries.get(path)?.target,
    readTree: async (path) =>
      new Map(
        [...disk.entries].flatMap(([at, { content, mode, uid = 0, gid = 0 }]) =>
          at.startsWith(`${path}/`) && content !== undefined
            ? [[at.slice(path.length + 1), { content: bytes(content), mode, uid, gid }] as const]
            : [],
        ),
      ),
    async makeFolder(path: string, access: FileAccess) {
      disk.fault('makeContentFolder', path);
      requireFolder(path);
      if (disk.has(path)) throw new TubeletError('alreadyExists', `${path} is there`);
      disk.entries.set(path, { ...access });
    },
    async writeFile(path: string, file: ContentFile) {
      disk.fault('writeContent', path);
      requireFolder(path);
      if (disk.has(path)) throw new TubeletError('alreadyExists', `${path} is there`);
      disk.entries.set(path, { ...file });
    },
    async replaceLink(path, target, owner) {
      disk.fault('replaceLink', path);
      requireFolder(path);
      const { uid = 0, gid = 0 } = owner;
      disk.entries.set(path, { target, mode: 0o777, uid, gid });
    },
    async unlink(path) {
      disk.fault('unlink', path);
      disk.entries.delete(path);
    },
  };
}

function factsOf({ content, target, mode, uid = 0, gid = 0 }: MemoryEntry): FileFacts {
  const kind = target === undefined ? (content === undefined ? 'folder' : 'file') : 'link';
  return { kind, mode, uid, gid };
}

/** The entry a path leads to through links. */
function resolve(disk: MemoryFiles, path: string): string | undefined {
  const parts = path.split('/');
  let at = parts[0] ?? '';
  for (const part of parts.slice(1)) {
    at = normalize(`${at}/${part}`);
    for (let links = 0; disk.entries.get(at)?.target !== undefined && links < 40; links++) {
      const target = disk.entries.get(at)?.target ?? '';
      const followed = resolve(disk, target.startsWith('/') ? target : join(dirname(at), target));
      if (followed === undefined) return undefined;
      at = followed;
    }
  }
  return disk.has(at) ? at : undefined;
}

function pathsOn(disk: MemoryFiles): HostPaths {
  const inside = (volumePath: string, subPath: string): string | undefined => {
    const at = resolve(disk, join(volumePath, subPath));
    if (at === undefined || at === volumePath || at.startsWith(`${volumePath}/`)) return at;
    throw new TubeletError('denied', `subpath "${subPath}" not within volume path "${volumePath}"`);
  };
  return {
    async stat(path) {
      const at = resolve(disk, disk.real(normalize(join(path, '.'))));
      const entry = at === undefined ? undefined : disk.entries.get(at);
      return entry && factsOf(entry);
    },
    makeFolder: (path, mode) => disk.makeFolder(path, mode),
    async makeFile(path, mode) {
      disk.fault('makeFile', path);
      disk.entries.set(path, { content: '', mode });
    },
    async changeTree(shown, access, _, processed) {
      disk.fault('changeTree', shown);
      const path = disk.real(normalize(join(shown, '.')));
      for (const [at, entry] of disk.entries) {
        if (at !== path && !at.startsWith(`${path}/`)) continue;
        const change = changeFor(access, factsOf(entry));
        if (change !== undefined) disk.entries.set(at, { ...entry, ...change });
        processed?.(1);
      }
    },
    async makeBelow(volumePath, subPath) {
      disk.fault('makeBelow', join(volumePath, subPath));
      if (inside(volumePath, subPath) !== undefined) return;
      const mode = disk.entries.get(volumePath)?.mode ?? 0o755;
      let at = volumePath;
      for (const name of subPath.split('/')) {
        at = join(at, name);
        if (!disk.has(at)) disk.entries.set(at, { mode });
      }
    },
    async openBelow(volumePath, subPath) {
      const source = inside(volumePath, subPath);
      const entry = source === undefined ? undefined : disk.entries.get(source);
      if (source === undefined || entry === undefined) throw new TubeletError('notFound', `${subPath} is not there`);
      return {
        isFolder: factsOf(entry).kind === 'folder',
        source,
        isAt: async (path) => disk.mounts.get(path)?.[0] === `bind ${source}`,
        close: async () => {},
      };
    },
  };
}

function mountsOn(disk: MemoryFiles): Mounts {
  const unmount = (target: string): void => {
    disk.fault('unmount', target);
    if (!disk.mounts.delete(target)) return;
    // The contents in memory are lost; the mount point stays.
    disk.forget(target);
    disk.entries.set(target, { mode: 0o777 });
  };
  return {
    async mount(fsType, target, options) {
      disk.fault('mount', target);
      if (!disk.has(target)) throw new TubeletError('notFound', `no such folder: ${target}`);
      disk.mounts.set(target, [fsType, ...options]);
      // The kernel's default.
      disk.entries.set(target, { mode: 0o1777 });
    },
    async bind(source, target) {
      disk.fault('bind', target);
      disk.mounts.set(target, [`bind ${source}`]);
      disk.entries.set(target, { ...disk.entries.get(source), mode: disk.entries.get(source)?.mode ?? 0 });
    },
    async restrict(target, options) {
      disk.fault('restrict', target);
      const [bound = ''] = disk.mounts.get(target) ?? [];
      disk.mounts.set(target, [bound, ...options]);
    },
    unmount: async (target) => unmount(target),
    async release(path) {
      for (const point of disk.mountsBelow(path)) unmount(point);
    },
    atOrBelow: async (path) => disk.mountsBelow(path),
  };
}
