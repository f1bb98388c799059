import { join } from 'node:path';
import { TubeletError } from '../../../src/base/errors.ts';
import type { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { memoryMountPrograms, memoryVolumeHost } from '../../../src/testing/memory-volume-host.ts';
import type { Files } from '../../../src/pods/directories/index.ts';
import type { MountPrograms, VolumeHost } from '../../../src/volumes/index.ts';

export interface Touch {
  readonly operation: string;
  readonly path: string;
}

const maxNameBytes = 255;
const maxPathBytes = 4_095;
type PathsOf = (args: readonly unknown[]) => readonly string[];

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const first: PathsOf = ([path]) => [text(path)];
const second: PathsOf = ([, path]) => [text(path)];
const joined: PathsOf = ([folder, path]) => [join(text(folder), text(path))];
/** Which arguments of an operation are paths; the first one where nothing else is said. */
const paths: Readonly<Record<string, PathsOf>> = {
  bind: ([source, target]) => [text(source), text(target)],
  mount: second,
  makeBelow: joined,
  openBelow: joined,
  'program.mount': ([spec]) => [text((spec as { readonly target?: string }).target)],
};

interface WatchedDisk {
  readonly files: Files;
  readonly volumeHost: VolumeHost;
  readonly mountPrograms: MountPrograms;
}

/** The disk of a node as the agent gets it: every path is recorded, and refused where a kernel would refuse it. */
export function watchedDisk(disk: MemoryFiles, record: (touch: Touch) => void): WatchedDisk {
  const watch = <T extends object>(target: T, prefix = ''): T =>
    new Proxy(target, {
      get(object, key) {
        const value: unknown = Reflect.get(object, key, object);
        if (typeof value !== 'function' || typeof key !== 'string') return value;
        return async (...args: readonly unknown[]): Promise<unknown> => {
          for (const path of (paths[prefix + key] ?? paths[key] ?? first)(args)) {
            record({ operation: prefix + key, path });
            refuse(path);
          }
          return Reflect.apply(value, object, args) as unknown;
        };
      },
    });
  const host = memoryVolumeHost(disk);
  return {
    files: watch(disk),
    volumeHost: {
      files: watch(host.files),
      contents: watch(host.contents),
      paths: watch(host.paths),
      ownPaths: watch(host.ownPaths),
      mounts: watch(host.mounts),
    },
    mountPrograms: watch(memoryMountPrograms(disk), 'program.'),
  };
}

function refuse(path: string): void {
  if (path.includes('\0')) throw new TubeletError('invalid', 'the path has a zero byte');
  const isLong = path.split('/').some((name) => Buffer.byteLength(name) > maxNameBytes);
  if (isLong || Buffer.byteLength(path) > maxPathBytes)
    throw new TubeletError('invalid', 'ENAMETOOLONG: name too long');
}
