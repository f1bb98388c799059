import type { Random } from '../base/random.ts';
import { atomicWrite } from './atomic-write.ts';
import { hostFiles } from './files.ts';

/** Files of records: a reader sees the old content or the new, also after a crash. */
export function recordFiles(random: Random): typeof hostFiles & {
  writeAtomic(path: string, content: string, mode: number): Promise<void>;
} {
  return { ...hostFiles, writeAtomic: (path, content, mode) => atomicWrite(path, content, { mode, random }) };
}
