import { chmod, chown, type FileHandle } from 'node:fs/promises';
import { changeFor, type GroupAccess } from '../model/group-access.ts';
import { changeLargeTree } from './change-large-tree.ts';
import { mappedError } from './files.ts';
import { entriesInPortions, type FolderEntry } from './folder-names.ts';
import { entryOf, factsOf, openPath, pathOf } from './path-handle.ts';

/** Entries of one folder that are read side by side; folders are read one after the other, so that few are open. */
const sideBySide = 16;
/**
 * Larger trees get a thread of their own: starting it costs as much as this many entries, and each then a fifth of it
 * here.
 */
const maxEntriesInline = 500;
/** As deep as a path of the maximum length can lead. */
const maxDepth = 2_048;

/**
 * Gives a folder and everything below it on its file system to a group. Containers may be writing there, so every entry
 * is opened from its folder's descriptor without following links, and exactly what was inspected is changed. An entry
 * that vanishes meanwhile is no error, and one that is right already costs only its inspection.
 */
export async function changeTree(
  path: string,
  access: GroupAccess,
  signal: AbortSignal,
  processed: (entries: number) => void = () => {},
): Promise<void> {
  signal.throwIfAborted();
  const top = await openPath(path);
  if (top === undefined) return;
  try {
    const { dev } = await top.stat();
    const walk: Walk = { access, signal, device: dev, seen: 0 };
    if (await changeOpen(top, walk)) processed(walk.seen);
    // From the start again: entries that are done already are only inspected.
    else await changeLargeTree({ top: pathOf(top), device: dev, access, maxDepth }, signal, processed);
  } catch (error) {
    throw mappedError(error);
  } finally {
    await top.close();
  }
}

interface Walk {
  readonly access: GroupAccess;
  readonly signal: AbortSignal;
  readonly device: number;
  seen: number;
}

/** Answers whether it reached the end: a tree that is too large is left half done. */
async function changeOpen(entry: FileHandle, walk: Walk): Promise<boolean> {
  walk.signal.throwIfAborted();
  const stats = await entry.stat();
  const facts = factsOf(stats);
  // Another file system is not part of the volume: it was mounted here.
  if (stats.dev !== walk.device) return true;
  if (++walk.seen > maxEntriesInline) return false;
  // Contents come first: if the top folder is right, everything below it is right too.
  if (facts.kind === 'folder' && !(await changeInside(entry, walk))) return false;
  const change = changeFor(walk.access, facts);
  if (change?.gid !== undefined) await chown(pathOf(entry), facts.uid, change.gid);
  if (change?.mode !== undefined) await chmod(pathOf(entry), change.mode);
  return true;
}

async function changeInside(folder: FileHandle, walk: Walk): Promise<boolean> {
  const entries: FolderEntry[] = [];
  for await (const portion of entriesInPortions(pathOf(folder))) {
    entries.push(...portion);
    if (walk.seen + entries.length > maxEntriesInline) return false;
  }
  const folders = entries.filter(({ isFolder }) => isFolder);
  const others = entries.filter(({ isFolder }) => !isFolder);
  let next = 0;
  const work = async (): Promise<boolean> => {
    for (let entry = others[next++]; entry !== undefined; entry = others[next++]) {
      if (!(await changeEntry(folder, entry.name, walk))) return false;
    }
    return true;
  };
  const done = await Promise.all(Array.from({ length: Math.min(sideBySide, others.length) }, work));
  if (done.includes(false)) return false;
  for (const { name } of folders) if (!(await changeEntry(folder, name, walk))) return false;
  return true;
}

async function changeEntry(folder: FileHandle, name: Buffer, walk: Walk): Promise<boolean> {
  const entry = await openPath(entryOf(folder, name));
  if (entry === undefined) return true;
  try {
    return await changeOpen(entry, walk);
  } finally {
    await entry.close();
  }
}
