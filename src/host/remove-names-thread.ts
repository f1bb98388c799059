import { opendirSync, rmdirSync, unlinkSync, type Dir } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../base/system-clock.ts';
import { codeOf, entryPath, moveAway } from './move-away.ts';

/** The task of a thread. Its caller holds the folders open. */
export type RemovalTask =
  /** Removes the files, links and empty folders in a folder. */
  | { readonly kind: 'empty'; readonly directory: number; readonly maxMs: number }
  /** Removes a folder that a process keeps writing into; full folders in it are moved to another one. */
  | {
      readonly kind: 'removeContended';
      readonly directory: number;
      readonly path: Uint8Array;
      readonly to: number;
      readonly maxMs: number;
    };

export type RemovalAnswer =
  | { readonly done: boolean }
  | { readonly failed: string; readonly code?: string | undefined };

/** Marks this file's thread, so that an import of the file elsewhere does no work. */
export const removalThread = 'removal';
/** The address of this file, in whatever bundle it is. */
export const threadUrl = import.meta.url;

const namesAtATime = 256;
/** A clock cannot be passed to a thread. */
const clock = systemClock();

function carryOut(task: RemovalTask): boolean {
  const untilMs = clock.monotonic() + task.maxMs;
  return task.kind === 'empty' ? empty(task.directory, untilMs) : removeContended(task, untilMs);
}

/** Answers whether it reached the end in time. What it cannot remove stays, for the caller to report. */
function empty(directory: number, untilMs: number): boolean {
  const folder = openFolder(directory);
  try {
    while (clock.monotonic() < untilMs) {
      const names = nextNames(folder);
      for (const name of names) {
        const entry = entryPath({ fd: directory }, name);
        if (codeOfFailure(() => unlinkSync(entry)) === 'EISDIR') codeOfFailure(() => rmdirSync(entry));
      }
      if (names.length < namesAtATime) return true;
    }
    return false;
  } finally {
    folder.closeSync();
  }
}

/** It is enough that the folder is empty at one moment: after its removal nothing can be written into it. */
function removeContended(
  { directory, path, to }: Extract<RemovalTask, { kind: 'removeContended' }>,
  untilMs: number,
): boolean {
  const top = Buffer.from(path);
  while (clock.monotonic() < untilMs) {
    const code = codeOfFailure(() => rmdirSync(top));
    if (code === undefined || code === 'ENOENT') return true;
    if (code === 'ENOTDIR') return false;
    if (code !== 'ENOTEMPTY') throw failed(code);
    // Only its first names: a writer may add names faster than they can be read to the end.
    const folder = openFolder(directory);
    const names = nextNames(folder);
    folder.closeSync();
    for (const name of names) {
      const entry = entryPath({ fd: directory }, name);
      const why = codeOfFailure(() => unlinkSync(entry));
      if (why === 'EISDIR') moveAway(entry, { fd: to });
      else if (why !== undefined && why !== 'ENOENT') throw failed(why);
    }
  }
  return false;
}

function codeOfFailure(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return codeOf(error) ?? String(error);
  }
}

const failed = (code: string): Error => Object.assign(new Error(code), { code });

function openFolder(directory: number): Dir {
  const path = `/proc/self/fd/${directory}`;
  return opendirSync(path, { encoding: 'buffer' as BufferEncoding, bufferSize: namesAtATime });
}

/** Fewer names than a full portion only at the end. */
function nextNames(folder: Dir): readonly Buffer[] {
  const names: Buffer[] = [];
  while (names.length < namesAtATime) {
    const name = nextName(folder);
    if (name === undefined) break;
    names.push(name);
  }
  return names;
}

/** The declarations of Node lack names as bytes, which `encoding: 'buffer'` gives. */
function nextName(folder: Dir): Buffer | undefined {
  const name: unknown = folder.readSync()?.name;
  return name instanceof Buffer ? name : undefined;
}

function answerTo(task: RemovalTask): RemovalAnswer {
  try {
    return { done: carryOut(task) };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error), code: codeOf(error) };
  }
}

if (parentPort !== null && workerData === removalThread) {
  const port = parentPort;
  port.on('message', (task: RemovalTask) => port.postMessage(answerTo(task)));
}
