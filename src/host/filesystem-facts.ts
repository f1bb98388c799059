import { statfs } from 'node:fs/promises';
import { mappedError } from './files.ts';
import type { FilesystemFacts } from './storage-messages.ts';

export async function filesystemFacts(path: string): Promise<FilesystemFacts> {
  try {
    const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(path);
    return { bsize, blocks, bfree, bavail, files, ffree };
  } catch (error) {
    throw mappedError(error);
  }
}
