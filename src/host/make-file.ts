import { open } from 'node:fs/promises';
import { mappedError } from './files.ts';

/** Makes an empty file; an existing one stays as it is. */
export async function makeFile(path: string, mode: number): Promise<void> {
  try {
    const file = await open(path, 'a', mode);
    try {
      await file.chmod(mode);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw mappedError(error);
  }
}
