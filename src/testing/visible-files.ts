import { posix } from 'node:path';
import { asText, type MemoryFiles } from './memory-files.ts';

/** The files of a volume as a container sees them: through the links at its top, by path. */
export async function visibleFiles(files: MemoryFiles, folder: string): Promise<Record<string, string>> {
  const data = files.entries.get(posix.join(folder, '..data'))?.target;
  const found: [string, string][] = [];
  for (const name of await files.list(folder)) {
    if (
      data === undefined ||
      name.startsWith('..') ||
      files.entries.get(posix.join(folder, name))?.target === undefined
    )
      continue;
    const at = posix.join(folder, data, name);
    for (const [path, { content }] of files.entries) {
      if (content === undefined || (path !== at && !path.startsWith(`${at}/`))) continue;
      found.push([path.slice(posix.join(folder, data).length + 1), asText(content)]);
    }
  }
  return Object.fromEntries(found.sort(([one], [other]) => (one < other ? -1 : 1)));
}
