import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseMountInfo, readMountInfo, type MountEntry } from '../../../src/host/index.ts';

/** A folder that nobody may ever reach from a volume. It has the names that a volume of the race has. */
export class Bait {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
    for (const folder of ['d', 'x/y']) mkdirSync(join(path, folder), { recursive: true, mode: 0o700 });
    for (const file of ['f', 'd/outside', 'x/f', 'x/y/f', 'outside']) {
      writeFileSync(join(path, file), 'outside', { mode: 0o600 });
    }
  }

  /**
   * All that is there, with the times of the last changes: a chmod that changes nothing, and a file that is removed and
   * made again, are told from nothing having happened.
   */
  state(): readonly string[] {
    return [this.path, ...readdirSync(this.path, { recursive: true }).map((name) => join(this.path, String(name)))]
      .toSorted()
      .map((path) => {
        const found = lstatSync(path, { bigint: true });
        const { mode, uid, gid, ino, nlink, mtimeNs, ctimeNs } = found;
        const content = found.isFile() ? readFileSync(path, 'utf8') : '';
        return [path, mode.toString(8), uid, gid, ino, nlink, mtimeNs, ctimeNs, content].join(' ');
      });
  }
}

/** Where something is, in the words of its file system: a bind does not change that. */
export interface Place {
  readonly device: string;
  readonly path: string;
}

/** The place of a folder; its path must be real. */
export function placeOf(path: string, mounts: readonly MountEntry[] = readMountInfo()): Place {
  const above = mounts
    .filter(({ mountPoint }) => mountPoint === '/' || path === mountPoint || path.startsWith(`${mountPoint}/`))
    .reduce((deepest, mount) => (mount.mountPoint.length >= deepest.mountPoint.length ? mount : deepest));
  return { device: above.device, path: join(above.root, path.slice(above.mountPoint.length)) };
}

/** Whether what is mounted lies below a folder. The kernel says where the mounted file is now, wherever it is moved. */
export function isBelow(mount: Pick<MountEntry, 'device' | 'root'>, { device, path }: Place): boolean {
  return mount.device === device && mount.root.startsWith(`${path}/`);
}

/** What is mounted on a path. Lines of other mounts are not worth reading: this is asked thousands of times. */
export function mountAt(path: string): MountEntry | undefined {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  const named = lines.filter((line) => line.includes(` ${path} `)).join('\n');
  return parseMountInfo(named).findLast(({ mountPoint }) => mountPoint === path);
}
