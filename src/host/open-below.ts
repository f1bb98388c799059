import { chmod, mkdir, realpath, stat, type FileHandle } from 'node:fs/promises';
import { TubeletError } from '../base/errors.ts';
import { mappedError } from './files.ts';
import { entryOf, factsOf, openPath, pathOf, targetOf } from './path-handle.ts';

/** As many links as the kernel would follow. */
const maxLinks = 40;
/** Each folder on the way is open. Links could lead further down than any path, and use up the agent's descriptors. */
const maxFolders = 2_048;
const modeBits = 0o2777;

/** A path that stays what it is for as long as it is open. */
export interface OpenPath {
  readonly isFolder: boolean;
  readonly source: string;
  isAt(path: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Opens a path below a volume, name by name; links in it may lead anywhere in the volume and nowhere else. */
export async function openBelow(volumePath: string, subPath: string): Promise<OpenPath> {
  const walk = await walkBelow(volumePath, subPath);
  try {
    if (walk.missing.length > 0) throw new TubeletError('notFound', `${subPath} is not there`);
    const entry = walk.folders.pop();
    if (entry === undefined) throw new TubeletError('notFound', `${subPath} is not there`);
    return await opened(entry);
  } finally {
    await closeAll(walk.folders);
  }
}

async function opened(entry: FileHandle): Promise<OpenPath> {
  try {
    const stats = await entry.stat({ bigint: true });
    return {
      isFolder: stats.isDirectory(),
      source: pathOf(entry),
      isAt: async (path) => {
        const other = await stat(path, { bigint: true });
        return other.dev === stats.dev && other.ino === stats.ino;
      },
      close: () => entry.close(),
    };
  } catch (error) {
    await entry.close();
    throw mappedError(error);
  }
}

/** Makes the folders of a path below a volume that are not there, with the mode of the volume's own folder. */
export async function makeBelow(volumePath: string, subPath: string): Promise<void> {
  const walk = await walkBelow(volumePath, subPath);
  try {
    if (walk.missing.includes('..')) throw escape(volumePath, subPath);
    const mode = factsOf(await stat(volumePath)).mode & modeBits;
    for (const name of walk.missing) {
      const above = walk.folders.at(-1);
      if (above === undefined) return;
      walk.folders.push(await makeFolder(above, name, mode));
    }
  } catch (error) {
    throw mappedError(error);
  } finally {
    await closeAll(walk.folders);
  }
}

async function makeFolder(above: FileHandle, name: string, mode: number): Promise<FileHandle> {
  const isOurs = await mkdir(entryOf(above, name), { mode: mode & 0o777 }).then(() => true, falseIfExists);
  const made = await openPath(entryOf(above, name));
  if (made === undefined) throw new TubeletError('conflict', `${name} vanished as soon as it was made`);
  const { kind } = factsOf(await made.stat());
  if (kind === 'folder') {
    if (isOurs) await chmod(pathOf(made), mode);
    return made;
  }
  await made.close();
  throw new TubeletError('conflict', `${name} was swapped while it was made`);
}

/** Another process was faster, maybe a container: then the folder is not ours. */
function falseIfExists(error: unknown): false {
  if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
  throw error;
}

interface Walk {
  /** Every folder on the way and what was reached last, open. */
  readonly folders: FileHandle[];
  /** The remaining names, from the first one that is missing. */
  readonly missing: readonly string[];
}

async function walkBelow(volumePath: string, subPath: string): Promise<Walk> {
  // The volume's own folder may be named through links of the node; below it containers control the names.
  const root = await openPath(await realpath(volumePath).catch(() => volumePath));
  if (root === undefined) throw new TubeletError('notFound', `${volumePath} is not there`);
  const folders = [root];
  let names = split(subPath);
  let links = 0;
  try {
    for (let name = names[0]; name !== undefined; name = names[0]) {
      const above = folders.at(-1);
      if (above === undefined) throw escape(volumePath, subPath);
      if (name === '..') {
        if (folders.length === 1) throw escape(volumePath, subPath);
        await folders.pop()?.close();
        names = names.slice(1);
        continue;
      }
      if (!(await above.stat()).isDirectory()) {
        throw new TubeletError('invalid', `${subPath}: what is above ${name} is not a directory`);
      }
      const entry = await openPath(entryOf(above, name));
      if (entry === undefined) break;
      if (!(await entry.stat()).isSymbolicLink()) {
        folders.push(entry);
        if (folders.length > maxFolders) {
          throw new TubeletError('invalid', `${subPath}: it is in more than ${maxFolders} folders`);
        }
        names = names.slice(1);
        continue;
      }
      await entry.close();
      if (++links > maxLinks) throw new TubeletError('invalid', `${subPath}: too many links`);
      // Only the text of a link counts, and it is resolved like the rest: a swapped link leads elsewhere only inside
      // the volume.
      const target = await targetOf(above, name);
      if (target?.startsWith('/') === true) throw escape(volumePath, subPath);
      if (target !== undefined) names = [...split(target), ...names.slice(1)];
    }
    return { folders, missing: names };
  } catch (error) {
    await closeAll(folders);
    throw mappedError(error);
  }
}

const split = (path: string): readonly string[] => path.split('/').filter((name) => name !== '' && name !== '.');

const escape = (volumePath: string, subPath: string): TubeletError =>
  new TubeletError('denied', `subpath "${subPath}" not within volume path "${volumePath}"`);

async function closeAll(handles: readonly FileHandle[]): Promise<void> {
  await Promise.all(handles.map((handle) => handle.close()));
}
