import { lstat, readdir, statfs, type Stats } from 'node:fs';
import type { TreeSize } from '../model/usage.ts';
import { entriesInPortions } from './folder-names.ts';
import { SeenInodes } from './seen-inodes.ts';

const blockBytes = 512;
/** Entries of one folder that are inspected at the same time. */
const together = 8;
/**
 * Folders from this size on are read in portions: a pod that fills an emptyDir with millions of names must not fill the
 * memory of the agent with them. A small folder is read at once, which costs a third.
 */
const smallFolderBytes = 64 * 1024;
/** File systems on which the size of a folder grows with what is in it: ext, xfs, btrfs, f2fs, zfs, tmpfs, overlay. */
const typesWithFolderSizes = new Set([0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x01021994, 0x794c7630]);
/** Every folder on the way down may be open with a portion of its names, so portions are small further down. */
const [shallow, shallowPortion, deepPortion] = [32, 256, 32];

/** A folder with its size as the file system reports it. */
interface SizedFolder {
  readonly path: string;
  readonly sizeBytes: number;
}

interface Level {
  readonly path: string;
  /** Names in the order of the folder, each character a byte: a name need not be text. */
  readonly portions: AsyncIterator<readonly string[]>;
  folders: SizedFolder[];
}

/** One walk through folders of one file system. Its memory does not grow with the tree. */
export class TreeWalk {
  #device: number | undefined;
  #hasFolderSizes: boolean | undefined;
  readonly #signal: AbortSignal;
  /** Left out of the walk; each character is a byte. */
  readonly #mountPoints: ReadonlySet<string>;
  readonly #seen = new SeenInodes();
  #bytes = 0;
  #inodes = 0;

  /** Without a device that of the first entry counts. */
  constructor(device: number | undefined, signal: AbortSignal, mountPoints: ReadonlySet<string>) {
    this.#device = device;
    this.#signal = signal;
    this.#mountPoints = new Set([...mountPoints].map(asBytes));
  }

  size(): TreeSize {
    return { bytes: Math.round(this.#bytes), inodes: Math.round(this.#inodes) };
  }

  /** Answers false for what belongs to another file system or was counted under another name. */
  count(entry: Stats): boolean {
    this.#device ??= entry.dev;
    if (entry.dev !== this.#device) return false;
    const share = entry.nlink > 1 && !entry.isDirectory() ? this.#seen.share(entry.ino, entry.nlink) : 1;
    this.#bytes += entry.blocks * blockBytes * share;
    this.#inodes += share;
    return share > 0;
  }

  /** Everything below a folder. Iterative, so that the depth of the tree does not become stack depth. */
  async below(path: string, sizeBytes: number): Promise<void> {
    const levels = [await this.#level({ path: asBytes(path), sizeBytes }, 0)];
    try {
      for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
        this.#signal.throwIfAborted();
        const folder = level.folders.pop();
        if (folder !== undefined) {
          levels.push(await this.#level(folder, levels.length));
          continue;
        }
        const { done, value } = await level.portions.next();
        if (done === true) levels.pop();
        else level.folders = await this.#entries(level.path, value);
      }
    } finally {
      for (const { portions } of levels) await portions.return?.();
    }
  }

  /** Counts the files in a folder, and hands on the folders in it, which are not counted. */
  async *in(path: string, sizeBytes: number): AsyncGenerator<SizedFolder> {
    const { portions } = await this.#level({ path: asBytes(path), sizeBytes }, 0);
    try {
      for (let next = await portions.next(); next.done !== true; next = await portions.next()) {
        const found = await this.#entries(asBytes(path), next.value, false);
        for (const folder of found) yield { ...folder, path: Buffer.from(folder.path, 'latin1').toString() };
      }
    } finally {
      await portions.return?.();
    }
  }

  async #level({ path, sizeBytes }: SizedFolder, depth: number): Promise<Level> {
    this.#hasFolderSizes ??= await hasFolderSizes(path);
    const isSmall = this.#hasFolderSizes && sizeBytes < smallFolderBytes && depth < shallow;
    const portions = isSmall ? atOnce(path) : inPortions(path, depth < shallow ? shallowPortion : deepPortion);
    return { path, portions, folders: [] };
  }

  async #entries(folder: string, names: readonly string[], countFolders = true): Promise<SizedFolder[]> {
    const folders: SizedFolder[] = [];
    for (let from = 0; from < names.length; from += together) {
      this.#signal.throwIfAborted();
      const some = names.slice(from, from + together).map((name) => `${folder}/${name}`);
      const paths = some.filter((path) => !this.#mountPoints.has(path));
      const found = await Promise.all(paths.map((path) => status(Buffer.from(path, 'latin1'))));
      for (const [index, entry] of found.entries()) {
        if (entry === undefined) continue;
        const isFolder = entry.isDirectory();
        const isNew = isFolder && !countFolders ? true : this.count(entry);
        const path = paths[index];
        if (isNew && isFolder && path !== undefined) folders.push({ path, sizeBytes: entry.size });
      }
    }
    return folders;
  }
}

const asBytes = (path: string): string => Buffer.from(path).toString('latin1');

/** An entry that vanishes during the walk takes no space any more; one whose path is too long cannot be reached. */
const passing = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'EACCES', 'ELOOP']);

const isPassing = (error: unknown): boolean => passing.has((error as NodeJS.ErrnoException).code ?? '');

/** The callback API costs half of what its promise does, and there are thousands of calls. */
export function status(path: string | Buffer): Promise<Stats | undefined> {
  return new Promise((resolve, reject) => {
    lstat(path, (error, stats) => {
      if (error === null) resolve(stats);
      else if (isPassing(error)) resolve(undefined);
      else reject(error);
    });
  });
}

function hasFolderSizes(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    statfs(Buffer.from(path, 'latin1'), (error, stats) =>
      resolve(error === null && typesWithFolderSizes.has(stats.type)),
    );
  });
}

function list(path: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    readdir(Buffer.from(path, 'latin1'), { encoding: 'latin1' }, (error, names) => {
      if (error === null) resolve(names);
      else if (isPassing(error)) resolve([]);
      else reject(error);
    });
  });
}

async function* atOnce(path: string): AsyncGenerator<readonly string[]> {
  yield await list(path);
}

async function* inPortions(path: string, portion: number): AsyncGenerator<readonly string[]> {
  try {
    for await (const entries of entriesInPortions(Buffer.from(path, 'latin1'), portion)) {
      yield entries.map(({ name }) => name.toString('latin1'));
    }
  } catch (error) {
    if (!isPassing(error)) throw error;
  }
}
