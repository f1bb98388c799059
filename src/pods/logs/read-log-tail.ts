import { basename, dirname, join } from 'node:path';
import { isKind } from '../../base/errors.ts';
import type { TailLimits } from '../../model/termination-message.ts';
import { parseLogLine } from './cri-log-line.ts';
import type { TailFiles } from './ports.ts';
import { rotatedName } from './rotated-name.ts';

const blockBytes = 64 * 1024;
/** Of a longer line only the end is read; also the maximum that is kept of a compressed file. */
const maxLineLength = 1024 * 1024;
const newline = 0x0a;

/**
 * The last lines that a container wrote, without the runtime's prefixes, both streams in order. It goes
 * back into rotated files where the current one has too little: a rotation just before a crash hides nothing. The bytes
 * are the very last ones, so that the beginning may be half a character.
 */
export async function readLogTail(path: string, limits: TailLimits, files: TailFiles): Promise<Buffer> {
  const parts: Buffer[] = [];
  let lines = 0;
  let bytes = 0;
  for await (const line of linesFromEnd(path, files)) {
    if (lines >= limits.lines || bytes >= limits.bytes) break;
    const content = contentOf(line);
    if (content === undefined) continue;
    parts.unshift(content);
    lines++;
    bytes += content.length;
  }
  return Buffer.concat(parts).subarray(Math.max(0, bytes - limits.bytes));
}

interface RawLine {
  readonly bytes: Buffer;
  /** The line is too long, and its beginning was not read. */
  readonly cut: boolean;
}

/** The content of a log line, with a line end unless it is partial; undefined for any other line. */
function contentOf({ bytes, cut }: RawLine): Buffer | undefined {
  if (cut) return bytes;
  const line = parseLogLine(bytes);
  if (line === undefined || line.partial) return line?.content;
  return Buffer.concat([line.content, Buffer.from('\n')]);
}

/** All lines of a log, the last first, through its files from the current one back. */
async function* linesFromEnd(path: string, files: TailFiles): AsyncGenerator<RawLine> {
  const name = basename(path);
  const older = (await files.list(dirname(path), name))
    .flatMap((other) => rotatedName(name, other) ?? [])
    .filter(({ kind }) => kind !== 'unfinished')
    .map(({ stamp }) => stamp)
    .toSorted()
    .toReversed();
  yield* linesOfFile(path, files);
  // A file may be compressed while we read; then it is there in one form or the other.
  for (const stamp of new Set(older)) yield* linesOfRotated(join(dirname(path), `${name}.${stamp}`), files);
}

async function* linesOfRotated(path: string, files: TailFiles): AsyncGenerator<RawLine> {
  if ((await files.size(path)) !== undefined) {
    yield* linesOfFile(path, files);
    return;
  }
  try {
    const end = await files.readCompressedEnd(`${path}.gz`, maxLineLength);
    yield* splitFromEnd(end, end.length >= maxLineLength);
  } catch (error) {
    if (!isKind(error, 'notFound')) throw error;
  }
}

/** Reads block by block from the end, as far as the consumer iterates. */
async function* linesOfFile(path: string, files: TailFiles): AsyncGenerator<RawLine> {
  let unread = (await files.size(path)) ?? 0;
  /** What stands before the first line end: its line may have begun in the block before. */
  let rest = Buffer.alloc(0);
  while (unread > 0) {
    const start = Math.max(0, unread - blockBytes);
    rest = Buffer.concat([await readIfThere(path, start, unread - start, files), rest]);
    unread = start;
    const first = start === 0 ? -1 : rest.indexOf(newline);
    const endless = start > 0 && first < 0 && rest.length >= maxLineLength;
    if (start > 0 && first < 0 && !endless) continue;
    yield* splitFromEnd(rest.subarray(first + 1), endless);
    if (endless) return;
    rest = rest.subarray(0, Math.max(0, first));
  }
}

async function readIfThere(path: string, start: number, length: number, files: TailFiles): Promise<Buffer> {
  try {
    return await files.read(path, start, length);
  } catch (error) {
    if (isKind(error, 'notFound')) return Buffer.alloc(0);
    throw error;
  }
}

/** Empty lines are skipped: even a program's empty line has a prefix. */
function* splitFromEnd(text: Buffer, cut: boolean): Generator<RawLine> {
  for (let end = text.length; end > 0;) {
    const before = text.lastIndexOf(newline, end - 1);
    if (before + 1 < end) yield { bytes: text.subarray(before + 1, end), cut: cut && before < 0 };
    end = before;
  }
}
