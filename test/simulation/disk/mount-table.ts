import { TubeletError } from '../../../src/base/errors.ts';
import { Inode, type FileSystem } from './inode.ts';

/** Something that is mounted. No two are the same, also when they show the same thing at the same place. */
export interface MountRecord {
  readonly id: number;
  readonly path: string;
  /** What it shows: the top of a file system, or whatever was bound. */
  readonly root: Inode;
  /** On what it stands; nothing for the machine's own disk. */
  readonly on: { readonly mount: MountRecord; readonly inode: Inode } | undefined;
  options: readonly string[];
}

/** Where a path leads: to what, and through which mount. */
export interface Place {
  readonly mount: MountRecord;
  readonly inode: Inode;
}

const mostLinks = 40;
const descriptors = '/proc/self/fd/';

/** The machine's mounts as the kernel keeps them: each stands on a folder of another, and hides what is below. */
export class MountTable {
  readonly root: MountRecord;
  #mounts: MountRecord[];
  /** Those that stand on an inode, in order of time. */
  readonly #standing = new Map<Inode, MountRecord[]>();
  #made = 0;
  /** Descriptors that are open, by number. */
  readonly #open = new Map<string, Place>();
  #opened = 0;

  constructor(disk: FileSystem) {
    this.root = { id: 0, path: '/', root: new Inode(disk, 'folder', 0o755), on: undefined, options: [] };
    this.#mounts = [this.root];
  }

  all(): readonly MountRecord[] {
    return this.#mounts;
  }

  has(mount: MountRecord): boolean {
    return this.#mounts.includes(mount);
  }

  /** Deepest first; of those on one path the uppermost first. */
  atOrBelow(path: string): readonly MountRecord[] {
    const found = this.#mounts.filter((mount) => mount.path === path || mount.path.startsWith(`${path}/`));
    return found.toSorted((one, other) => other.path.length - one.path.length || other.id - one.id);
  }

  add(path: string, root: Inode, on: Place, options: readonly string[]): MountRecord {
    const made = { id: ++this.#made, path, root, on, options };
    this.#mounts.push(made);
    this.#standing.set(on.inode, [...(this.#standing.get(on.inode) ?? []), made]);
    return made;
  }

  remove(mount: MountRecord): void {
    if (this.#mounts.some(({ on }) => on?.mount === mount)) {
      throw new TubeletError('conflict', `EBUSY: something is mounted below ${mount.path}`);
    }
    this.#mounts = this.#mounts.filter((other) => other !== mount);
    if (mount.on === undefined) return;
    const left = (this.#standing.get(mount.on.inode) ?? []).filter((other) => other !== mount);
    if (left.length > 0) this.#standing.set(mount.on.inode, left);
    else this.#standing.delete(mount.on.inode);
  }

  /** The machine restarts: what was mounted is not any more. */
  clear(): void {
    this.#mounts = [this.root];
    this.#standing.clear();
    this.#open.clear();
  }

  /** Whether something is mounted on it, by whatever way it is reached. */
  isMountPoint(inode: Inode): boolean {
    return this.#standing.has(inode);
  }

  open(place: Place): { readonly source: string; readonly close: () => void } {
    const number = String(++this.#opened);
    this.#open.set(number, place);
    return { source: `${descriptors}${number}`, close: () => void this.#open.delete(number) };
  }

  /** Where a path leads, through links and mounts; nothing where there is nothing. */
  walk(path: string, options: { readonly followLast?: boolean } = {}): Place | undefined {
    const { start, names } = this.#start(path);
    if (start === undefined) return undefined;
    return this.#walk([start], names, options.followLast ?? true, mostLinks);
  }

  #start(path: string): { readonly start: Place | undefined; readonly names: readonly string[] } {
    if (!path.startsWith(descriptors))
      return { start: { mount: this.root, inode: this.root.root }, names: split(path) };
    const [number = '', ...names] = path.slice(descriptors.length).split('/');
    return { start: this.#open.get(number), names: split(names.join('/')) };
  }

  #walk(above: Place[], names: readonly string[], followLast: boolean, links: number): Place | undefined {
    for (const [index, name] of names.entries()) {
      const at = above.at(-1);
      if (at === undefined) return undefined;
      if (name === '..') {
        if (above.length > 1) above.pop();
        continue;
      }
      const child = at.inode.children.get(name);
      if (child === undefined) return undefined;
      const isLast = index === names.length - 1;
      if (child.kind === 'link' && (followLast || !isLast)) {
        if (links === 0) return undefined;
        const rest = [...child.target.split('/').filter((part) => part !== ''), ...names.slice(index + 1)];
        const from = child.target.startsWith('/') ? above.slice(0, 1) : above;
        return this.#walk(from, rest, followLast, links - 1);
      }
      above.push(this.#over({ mount: at.mount, inode: child }));
    }
    return above.at(-1);
  }

  /** What is seen at a place: the uppermost of what is mounted on it. */
  #over(place: Place): Place {
    const mount = this.#standing.get(place.inode)?.findLast(({ on }) => on?.mount === place.mount);
    return mount === undefined ? place : this.#over({ mount, inode: mount.root });
  }
}

/** `..` is left for who walks: through a link it leads elsewhere than the text says. */
const split = (path: string): readonly string[] => path.split('/').filter((name) => name !== '' && name !== '.');
