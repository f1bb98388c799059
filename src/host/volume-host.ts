import { open } from 'node:fs/promises';
import { changeTree } from './change-tree.ts';
import { contentFiles } from './content-files.ts';
import { hostFiles, mappedError } from './files.ts';
import { hostMounts } from './mounts.ts';
import { makeBelow, openBelow } from './open-below.ts';
import { lookAt } from './path-handle.ts';

/** The machine as far as volumes need it. */
export const volumeHost = {
  files: hostFiles,
  contents: contentFiles,
  mounts: hostMounts,
  paths: { lookAt, makeFile, changeTree, makeBelow, openBelow },
};

/** An empty file; one that is there stays as it is. */
async function makeFile(path: string, mode: number): Promise<void> {
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
