import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const passing: string[] = [];

/** A folder on disk that goes when the process of the test ends. */
export function passingFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `tubelet-${name}-`));
  if (passing.length === 0) process.once('exit', () => passing.forEach((path) => rmSync(path, { recursive: true })));
  passing.push(folder);
  return folder;
}

/**
 * Lays out a recorded tree of small files, as the kernel shows them, in a folder of its own. A record is one text: each
 * file follows a line `=== <path>`.
 */
export function layOutRecord(...records: readonly string[]): string {
  const folder = passingFolder('record');
  for (const part of records.flatMap((record) => readFileSync(record, 'utf8').split(/^=== /m).slice(1))) {
    const end = part.indexOf('\n');
    const path = join(folder, part.slice(0, end));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, part.slice(end + 1));
  }
  return folder;
}
