import { mkdir } from 'node:fs/promises';
import { hostFiles } from './files.ts';
import { nodeFiles } from './node-files.ts';

/** Files of a shutdown: its record, its requests, the drop-in of logind. */
export const shutdownFiles = {
  read: (path: string, maxBytes: number): Promise<string> => hostFiles.readEnd(path, maxBytes),
  replace: (path: string, text: string, mode: number): Promise<void> => hostFiles.replaceFile(path, text, mode),
  remove: (path: string): Promise<void> => hostFiles.removeFile(path),
  /** A folder that exists keeps its mode: it may be the operator's. */
  async makeFolder(path: string, mode: number): Promise<void> {
    await mkdir(path, { recursive: true, mode });
  },
  watch: (path: string, onChange: () => void, onError: (error: unknown) => void): (() => void) =>
    nodeFiles.watch(path, () => onChange(), onError),
};
