import { opendir } from 'node:fs/promises';

const entriesAtATime = 256;

export interface FolderEntry {
  readonly name: Buffer;
  readonly isFolder: boolean;
}

/**
 * Entries of a folder, some at a time: a program that can write there must not be able to fill the memory with names,
 * nor to block the event loop. The folder is closed before the last portion is handed on, so that a walk through a tree
 * of small folders has few open.
 */
export async function* entriesInPortions(
  path: string | Buffer,
  portion = entriesAtATime,
): AsyncGenerator<readonly FolderEntry[]> {
  const folder = await opendir(path, { encoding: 'buffer' as BufferEncoding, bufferSize: portion });
  let isOpen = true;
  try {
    while (isOpen) {
      const entries: FolderEntry[] = [];
      while (entries.length < portion) {
        const entry = await folder.read();
        if (entry === null) {
          isOpen = false;
          await folder.close();
          break;
        }
        // The declarations of Node lack names as bytes, which `encoding: 'buffer'` gives.
        entries.push({ name: entry.name as unknown as Buffer, isFolder: entry.isDirectory() });
      }
      if (entries.length > 0) yield entries;
    }
  } finally {
    if (isOpen) await folder.close();
  }
}

/** The names alone, as texts. */
export async function* namesInPortions(path: string): AsyncGenerator<readonly string[]> {
  for await (const entries of entriesInPortions(path)) yield entries.map(({ name }) => name.toString());
}
