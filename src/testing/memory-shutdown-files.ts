import { dirname } from 'node:path';
import type { ShutdownFiles } from '../shutdown/ports.ts';
import type { MemoryFiles } from './memory-files.ts';

type Disk = MemoryFiles['entries'];

/** Who watches which folder of a disk. */
const watchers = new WeakMap<Disk, Map<string, Set<() => void>>>();

/** Files of a shutdown on a disk in memory. */
export function memoryShutdownFiles(files: MemoryFiles): ShutdownFiles {
  return {
    read: async (path, maxBytes) => (await files.readText(path)).slice(-maxBytes),
    replace: (path, text, mode) => files.replaceFile(path, text, mode),
    remove: (path) => files.removeFile(path),
    makeFolder: async (path, mode) => {
      if (!files.has(path)) await files.makeFolder(path, mode);
    },
    watch: (path, onChange) => {
      const ofDisk = watchers.get(files.entries) ?? new Map<string, Set<() => void>>();
      watchers.set(files.entries, ofDisk);
      const ofFolder = ofDisk.get(path) ?? new Set();
      ofDisk.set(path, ofFolder);
      ofFolder.add(onChange);
      return () => ofFolder.delete(onChange);
    },
  };
}

/** What another program does with a file; undefined removes it. */
export function changeFile(files: MemoryFiles, path: string, text: string | undefined): void {
  if (text === undefined) files.entries.delete(path);
  else files.entries.set(path, { content: text, mode: 0o600 });
  for (const onChange of watchers.get(files.entries)?.get(dirname(path)) ?? []) onChange();
}
