import { blockBytes, type ReadBuffers } from './read-buffers.ts';
import type { OpenLog } from './ports.ts';

const newline = 0x0a;

/**
 * Where the last so many lines of a file begin. A last line without an end does not count, and comes along. The file is
 * read from its end, block by block.
 */
export async function findTailStart(
  buffers: ReadBuffers,
  file: OpenLog,
  size: number,
  lines: number,
  signal: AbortSignal,
): Promise<number> {
  /** Line ends from the back; the one before the first wanted line is searched. */
  let seen = 0;
  for (let right = size; right > 0;) {
    const left = Math.max(0, right - blockBytes);
    let start = -1;
    const search = (block: Buffer): void => {
      for (let at = block.length - 1; at >= 0; at--) {
        if (block[at] !== newline || seen++ < lines) continue;
        start = left + at + 1;
        return;
      }
    };
    const bytes = await buffers.read(file, left, right - left, search, signal);
    if (start >= 0) return start;
    // The file was cut shorter meanwhile: what is there now is all there is to show.
    if (bytes < right - left) return 0;
    right = left;
  }
  return 0;
}
