import { join, normalize } from 'node:path/posix';
import { isKind, kindOf } from '../../base/errors.ts';
import { text, type BodySink, type Page, type RouteResponse } from '../route.ts';
import { listingPage } from './listing.ts';
import type { NodeLogFile, NodeLogFiles, NodeLogFolder } from './ports.ts';

export interface FilePagesDeps {
  readonly files: NodeLogFiles;
  /** What is served: `/var/log`. */
  readonly root: string;
  /** Further folders that links below the root may lead to. */
  readonly alsoBelow: readonly string[];
}

const blockBytes = 64 * 1024;
const headBytes = 512;
const maxEntries = 10_000;
/** Names that no file can have are not opened. */
const maxPathLength = 4_096;

/** The names on the way to a file below the root: no dots, no empty ones, and no way out. */
export function namesOf(file: string): readonly string[] | undefined {
  if (file.includes('\0') || file.length > maxPathLength) return undefined;
  return normalize(`/${file}`)
    .split('/')
    .filter((name) => name !== '');
}

/** A file or the list of a folder below the root of the node's logs. */
export async function filePage(deps: FilePagesDeps, file: string): Promise<RouteResponse> {
  const names = namesOf(file);
  if (names === undefined) return text(404, '404 page not found\n');
  try {
    const found = await openBelow(deps, names);
    try {
      return found.kind === 'folder' ? await folderPage(found, names) : await fileAnswer(deps, found, names);
    } finally {
      await found.close();
    }
  } catch (error) {
    return failurePage(error);
  }
}

/** The bytes that a file has when it is opened; what is written meanwhile is not waited for. */
export async function sendFile(file: NodeLogFile, sink: BodySink, signal: AbortSignal): Promise<void> {
  for (let position = 0; position < file.size;) {
    signal.throwIfAborted();
    // A fresh one each time: the sink may still hold the one before.
    const buffer = Buffer.allocUnsafe(Math.min(blockBytes, file.size - position));
    const bytes = await file.read(buffer, position, buffer.length);
    if (bytes === 0) return;
    position += bytes;
    await sink.write(buffer.subarray(0, bytes));
  }
}

export function openBelow(
  { files, root, alsoBelow }: FilePagesDeps,
  names: readonly string[],
): Promise<NodeLogFile | NodeLogFolder> {
  return files.open(join(root, ...names), [root, ...alsoBelow]);
}

async function folderPage(folder: NodeLogFolder, names: readonly string[]): Promise<Page> {
  const { entries, more } = await folder.list(maxEntries);
  return {
    kind: 'page',
    status: 200,
    contentType: 'text/html; charset=utf-8',
    body: listingPage(names, entries, more),
    headers: lastModified(folder.modifiedMs),
  };
}

/** Opened anew when it is sent: an answer that is never sent would never close its file. */
async function fileAnswer(deps: FilePagesDeps, file: NodeLogFile, names: readonly string[]): Promise<RouteResponse> {
  const head = Buffer.alloc(headBytes);
  const bytes = await file.read(head, 0, headBytes);
  return {
    kind: 'stream',
    status: 200,
    contentType: contentTypeOf(head.subarray(0, bytes)),
    headers: lastModified(file.modifiedMs),
    send: async (sink, signal) => {
      const again = await openBelow(deps, names);
      try {
        if (again.kind === 'file') await sendFile(again, sink, signal);
      } finally {
        await again.close();
      }
    },
  };
}

function failurePage(error: unknown): Page {
  if (isKind(error, 'notFound')) return text(404, '404 page not found\n');
  if (isKind(error, 'denied')) return { ...text(403, '403 Forbidden\n'), problem: String(error) };
  if (kindOf(error) === 'cancelled') throw error;
  return { ...text(500, '500 Internal Server Error\n'), problem: String(error) };
}

const lastModified = (ms: number): Readonly<Record<string, string>> => ({
  'last-modified': new Date(ms).toUTCString(),
});

const plain = 'text/plain; charset=utf-8';
const binary = 'application/octet-stream';

/** By the first bytes, as far as they say it. */
const beginnings: readonly (readonly [readonly number[], string])[] = [
  [[0x1f, 0x8b, 0x08], 'application/x-gzip'],
  [[0x50, 0x4b, 0x03, 0x04], 'application/zip'],
];

/**
 * What a log file holds, by its first bytes. Nothing is ever called a page or a script, whatever its name: what stands
 * in logs was written by workloads that are not trusted.
 */
export function contentTypeOf(head: Buffer): string {
  for (const [bytes, type] of beginnings) {
    if (bytes.every((byte, index) => head[index] === byte)) return type;
  }
  return head.some(isBinary) ? binary : plain;
}

/** Control characters that no text has; tab, line ends, form feed and escape are in many logs. */
function isBinary(byte: number): boolean {
  return byte <= 0x08 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f);
}
