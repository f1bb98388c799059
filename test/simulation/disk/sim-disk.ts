import { basename, dirname, normalize } from 'node:path';
import { TubeletError } from '../../../src/base/errors.ts';
import type { Files } from '../../../src/pods/directories/index.ts';
import type { VolumeFiles } from '../../../src/volumes/ports.ts';
import { Inode, type FileSystem } from './inode.ts';
import { MountTable, type MountRecord, type Place } from './mount-table.ts';

/** Who looks on at what the agent does to the machine's files and mounts, one smallest step after the other. */
export interface DiskWatch {
  /** A step is about to be taken; what this throws keeps it from being taken. */
  before(step: string, path: string): void;
  after(step: string, path: string): void;
  removed(inode: Inode, path: string): void;
  mounted(mount: MountRecord): void;
  unmounted(mount: MountRecord): void;
  /** Somebody asked for the removal of a tree that something is mounted in. */
  crossing(path: string, mount: MountRecord): void;
}

/**
 * Files and mounts of a machine, step by step: each call is made of what the kernel does in one go, and an agent may die
 * between any two of those. Files are inodes, mounts are records, so that it can be told what was lost and what was seen.
 */
export class SimDisk implements Files, VolumeFiles {
  readonly table: MountTable;
  /** Asked before every call that changes something; what it throws is what the caller gets. */
  fault: (operation: string, path: string) => void = () => {};
  watch: DiskWatch | undefined;
  readonly #disk: FileSystem = { kind: 'disk', name: 'disk' };

  constructor() {
    this.table = new MountTable(this.#disk);
  }

  async makeFolder(path: string, mode: number): Promise<void> {
    this.fault('makeFolder', path);
    const made = this.#missing(path);
    for (const folder of made) this.create(folder, 'folder', 0o755);
    // One that was there gets the mode too.
    for (const folder of made.length > 0 ? made.toReversed() : [path]) this.chmod(folder, mode);
  }

  async writeFile(path: string, content: string, mode: number): Promise<void> {
    this.fault('writeFile', path);
    const present = this.table.walk(path)?.inode;
    const file = present ?? this.create(path, 'file', mode & 0o755);
    // Whoever dies in between leaves half of it.
    for (const part of ['', content.slice(0, content.length / 2), content]) {
      if (part !== file.content) this.step('write', path, () => void (file.content = part));
    }
    this.chmod(path, mode);
  }

  /** Replaces a file as a whole. */
  async replaceFile(path: string, content: string, mode: number): Promise<void> {
    this.fault('writeFile', path);
    this.step('rename', path, () => void (this.put(path, 'file', mode).content = content));
  }

  async removeFile(path: string): Promise<void> {
    await this.removeTree(path);
  }

  async readText(path: string): Promise<string> {
    const found = this.table.walk(path)?.inode;
    if (found?.kind !== 'file') throw new TubeletError('notFound', `no such file: ${path}`);
    return found.content;
  }

  async list(path: string, keep: (name: string) => boolean = () => true): Promise<readonly string[]> {
    return [...this.names(path)].filter(keep);
  }

  async removeTree(path: string): Promise<void> {
    this.fault('removeTree', path);
    const [mount] = this.table.atOrBelow(normalize(path));
    if (mount !== undefined) {
      this.watch?.crossing(path, mount);
      throw new TubeletError('conflict', `refusing to remove ${path}: ${mount.path} is a mount point`);
    }
    const place = this.table.walk(path, { followLast: false });
    if (place === undefined) return;
    const doomed = [...place.inode.below()];
    for (const entry of doomed) this.#unhang(entry, `${path}/${entry.pathFrom(place.inode)}`);
    this.#unhang(place.inode, path);
  }

  async removeEmpty(path: string): Promise<void> {
    this.fault('removeEmpty', path);
    const inode = this.table.walk(path, { followLast: false })?.inode;
    if (inode === undefined) return;
    if (this.table.atOrBelow(normalize(path)).length > 0) {
      throw new TubeletError('conflict', `EBUSY: ${path} is a mount point`);
    }
    if (inode.children.size > 0) throw new TubeletError('conflict', `ENOTEMPTY: ${path} is not empty`);
    this.#unhang(inode, path);
  }

  names(path: string): readonly string[] {
    return [...(this.table.walk(path)?.inode.children.keys() ?? [])];
  }

  has(path: string): boolean {
    return this.table.walk(path) !== undefined;
  }

  /** What others write on this disk, a runtime its logs say: without faults, and with the folders above. */
  append(path: string, text: string): void {
    const file = this.put(path, 'file', 0o640);
    file.content += text;
  }

  /** Puts something there by another hand than the agent's. */
  put(path: string, kind: Inode['kind'], mode = 0o755): Inode {
    const present = this.table.walk(path)?.inode;
    if (present !== undefined) return present;
    const above = this.put(dirname(path), 'folder');
    return above.add(basename(path), new Inode(above.fs, kind, mode));
  }

  /** A step of the kernel: done as a whole or not at all. */
  step<T>(what: string, path: string, act: () => T): T {
    this.watch?.before(what, path);
    const done = act();
    this.watch?.after(what, path);
    return done;
  }

  /** Makes an entry that is not there, in a folder that is. */
  create(path: string, kind: Inode['kind'], mode: number): Inode {
    const above = this.folder(dirname(path));
    if (above.children.has(basename(path))) throw new TubeletError('alreadyExists', `${path} is there`);
    return this.step(`create ${kind}`, path, () => above.add(basename(path), new Inode(above.fs, kind, mode)));
  }

  chmod(path: string, mode: number): void {
    const { inode } = this.place(path);
    this.step('chmod', path, () => {
      inode.mode = mode;
    });
  }

  unlink(path: string): void {
    const inode = this.table.walk(path, { followLast: false })?.inode;
    if (inode !== undefined) this.#unhang(inode, path);
  }

  /** Takes the uppermost mount of a path away. */
  unmount(mount: MountRecord): void {
    this.step('unmount', mount.path, () => {
      this.table.remove(mount);
      this.watch?.unmounted(mount);
    });
  }

  mount(target: string, root: Inode, options: readonly string[]): void {
    const on = this.place(target);
    this.step('mount', target, () => this.watch?.mounted(this.table.add(normalize(target), root, on, options)));
  }

  folder(path: string): Inode {
    const found = this.table.walk(path)?.inode;
    if (found?.kind !== 'folder') throw new TubeletError('notFound', `no such folder: ${path}`);
    return found;
  }

  place(path: string): Place {
    const found = this.table.walk(path);
    if (found === undefined) throw new TubeletError('notFound', `no such file or folder: ${path}`);
    return found;
  }

  #unhang(inode: Inode, path: string): void {
    if (this.table.isMountPoint(inode)) throw new TubeletError('conflict', `EBUSY: ${path} is a mount point`);
    const { parent, name } = inode;
    this.step('remove', path, () => {
      this.watch?.removed(inode, path);
      parent?.drop(name);
    });
  }

  /** The folders of a path that are not there, uppermost first. */
  #missing(path: string): readonly string[] {
    const clean = normalize(path);
    return clean === '/' || this.table.walk(clean) !== undefined ? [] : [...this.#missing(dirname(clean)), clean];
  }
}
