import { readFile, stat } from 'node:fs/promises';

/** Files that other programs may replace while the agent runs. */
export interface AccessFiles {
  readText(path: string): Promise<string>;
  /** Differs when the file has been replaced or written to. Links are followed. */
  stampOf(path: string): Promise<string>;
}

export const accessFiles: AccessFiles = {
  readText: (path) => readFile(path, 'utf8'),
  async stampOf(path) {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  },
};
