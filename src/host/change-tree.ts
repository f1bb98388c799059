import { chmod, chown, lstat, readdir, type FileHandle } from 'node:fs/promises';
import { mappedError } from './files.ts';
import { entryOf, factsOf, isAbsence, openPath, pathOf, type PathFacts } from './path-handle.ts';

export type DecideAccess = (entry: PathFacts) => { readonly gid: number; readonly mode?: number } | undefined;

/** So many entries of one folder are looked at side by side; folders one after the other, so that few are open. */
const sideBySide = 16;

/**
 * Gives groups and modes to a folder and all that is below it on its file system. Containers may be writing there: every
 * entry is taken from its folder's descriptor without following links, and what is changed is what was looked at. An entry
 * that vanishes meanwhile is fine.
 */
export async function changeTree(path: string, decide: DecideAccess, signal: AbortSignal): Promise<void> {
  const top = await openPath(path);
  if (top === undefined) return;
  try {
    const { dev } = await top.stat();
    await changeOpen(top, { decide, signal, device: dev });
  } catch (error) {
    throw mappedError(error);
  } finally {
    await top.close();
  }
}

interface Walk {
  readonly decide: DecideAccess;
  readonly signal: AbortSignal;
  readonly device: number;
}

async function changeOpen(entry: FileHandle, walk: Walk): Promise<void> {
  walk.signal.throwIfAborted();
  const stats = await entry.stat();
  const facts = factsOf(stats);
  // Another file system is somebody else's: it was mounted here, it is not part of the volume.
  if (stats.dev !== walk.device) return;
  // What is inside comes first: a top that is right then means that all is.
  if (facts.kind === 'folder') await changeInside(entry, walk);
  const change = walk.decide(facts);
  if (change === undefined) return;
  await chown(pathOf(entry), facts.uid, change.gid);
  if (change.mode !== undefined && facts.kind !== 'link') await chmod(pathOf(entry), change.mode);
}

async function changeInside(folder: FileHandle, walk: Walk): Promise<void> {
  const names = await readdir(pathOf(folder), { encoding: 'buffer' });
  const folders: Buffer[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let name = names[next++]; name !== undefined; name = names[next++]) {
      walk.signal.throwIfAborted();
      if ((await changeLeaf(folder, name, walk)) === 'folder') folders.push(name);
    }
  };
  await Promise.all(Array.from({ length: Math.min(sideBySide, names.length) }, work));
  for (const name of folders) await changeEntry(folder, name, walk);
}

/** Most entries of a large tree are right already: for those one look is enough. */
async function changeLeaf(folder: FileHandle, name: Buffer, walk: Walk): Promise<'folder' | 'done'> {
  try {
    const facts = factsOf(await lstat(entryOf(folder, name)));
    if (facts.kind === 'folder') return 'folder';
    if (walk.decide(facts) !== undefined) await changeEntry(folder, name, walk);
    return 'done';
  } catch (error) {
    if (isAbsence(error)) return 'done';
    throw error;
  }
}

async function changeEntry(folder: FileHandle, name: Buffer, walk: Walk): Promise<void> {
  const entry = await openPath(entryOf(folder, name));
  if (entry === undefined) return;
  try {
    await changeOpen(entry, walk);
  } finally {
    await entry.close();
  }
}
