import { readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isAtOrAbove, type ForeignMount } from './foreign-mounts.ts';
import type { MountEntry } from './mountinfo.ts';

/** As many links as the kernel would follow. */
const maxLinks = 40;

interface LocateMount {
  readonly mounts: readonly MountEntry[];
  /** Whether a lookup may go into the mount here. */
  readonly mayEnter: (mount: ForeignMount) => boolean;
  /** The target of a link; undefined where there is none. The path is on a mount that may be entered. */
  readonly readLink?: (path: string) => Promise<string | undefined>;
}

/**
 * The mounts that a path leads into and that must not be entered here, outermost first; empty where the whole way is
 * free. The way is resolved name by name against the table of mounts before each step, so that nothing that may hang is
 * touched. Below the first such mount only the names of the path count, because links there cannot be read.
 */
export async function locateMount(path: string, options: LocateMount): Promise<readonly ForeignMount[]> {
  const { mounts, mayEnter, readLink = linkTarget } = options;
  const points = topmost(mounts);
  let names = split(path);
  let at = '';
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === '..') {
      at = at.slice(0, Math.max(0, at.lastIndexOf('/')));
      continue;
    }
    const next = `${at}/${name}`;
    const isProcess = points.get(at)?.fsType === 'proc' && processName.test(name);
    const gate = isProcess ? processMount(next) : points.get(next);
    if (gate !== undefined && !mayEnter(gate)) return [gate, ...beyond(points, next, names, mayEnter)];
    // Links there lead to files without their names and without the table of mounts.
    if (isProcess) return [];
    const target = await readLink(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    // The call itself will fail there.
    if (++links > maxLinks) return [];
    if (target.startsWith('/')) at = '';
    names = [...split(target), ...names];
  }
  return [];
}

const split = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.');

/** Further mounts that may not be entered, below one that may not be, on the way that the names of the path give. */
function beyond(
  points: ReadonlyMap<string, MountEntry>,
  gate: string,
  names: readonly string[],
  mayEnter: LocateMount['mayEnter'],
): readonly ForeignMount[] {
  const rest = join(gate, ...names);
  return [...points.values()]
    .filter(({ mountPoint }) => mountPoint.startsWith(`${gate}/`) && isAtOrAbove(mountPoint, rest))
    .filter((mount) => !mayEnter(mount))
    .toSorted((one, other) => one.mountPoint.length - other.mountPoint.length);
}

/** Of several mounts at one mount point the last one is visible. */
function topmost(mounts: readonly MountEntry[]): ReadonlyMap<string, MountEntry> {
  return new Map(mounts.map((mount) => [mount.mountPoint, mount]));
}

const processName = /^(?:\d+|self|thread-self)$/;

/** The tree of a process counts as a mount of its own, and as one that may hang: its links may lead to such mounts. */
const processMount = (path: string): ForeignMount => ({
  device: `process ${path}`,
  mountPoint: path,
  fsType: 'process',
  source: path,
});

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch {
    // No link, or nothing there, or unreadable: the call itself reports that.
    return undefined;
  }
}
