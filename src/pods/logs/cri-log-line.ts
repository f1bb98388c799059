/**
 * One line of a container log as CRI runtimes write it:
 *
 *   2026-01-01T00:00:00.000000000Z stdout F text
 *
 * Content is bytes: programs write what they like, and half a character may end a partial line.
 */
export interface CriLogLine {
  /** RFC 3339 with up to nanoseconds, as in the file. */
  readonly time: string;
  readonly stream: 'stdout' | 'stderr';
  /** The program's line goes on in the next line of this stream. */
  readonly partial: boolean;
  readonly content: Buffer;
}

const space = 0x20;
const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;
/** Longer than any time, stream and tags with the spaces between them. */
const maxPrefixLength = 128;

/** Parses a line without its line end; undefined for any other form. */
export function parseLogLine(line: Buffer): CriLogLine | undefined {
  const timeEnd = line.indexOf(space);
  const streamEnd = line.indexOf(space, timeEnd + 1);
  if (timeEnd < 0 || streamEnd < 0 || streamEnd > maxPrefixLength) return undefined;
  const tagsEnd = line.indexOf(space, streamEnd + 1);
  const time = line.toString('latin1', 0, timeEnd);
  const stream = line.toString('latin1', timeEnd + 1, streamEnd);
  // Tags are divided by colons; the first says whether the line is whole.
  const [tag] = line.toString('latin1', streamEnd + 1, tagsEnd < 0 ? line.length : tagsEnd).split(':');
  if (!timePattern.test(time) || (stream !== 'stdout' && stream !== 'stderr') || (tag !== 'F' && tag !== 'P')) {
    return undefined;
  }
  return { time, stream, partial: tag === 'P', content: line.subarray(tagsEnd < 0 ? line.length : tagsEnd + 1) };
}
