import { opendirSync, rmdirSync, unlinkSync, type Dir } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../base/system-clock.ts';
import { codeOf, entryPath, moveAway } from './move-away.ts';

/** What a thread is asked for. Folders are descriptors that whoever asks holds open. */
export type RemovalTask =
  /** Removes the files, links and empty folders in a folder. */
  | { readonly kind: 'empty'; readonly directory: number; readonly maxMs: number }
  /** Removes a folder that a process keeps writing into; full folders in it are moved to another one. */
  | {
      readonly kind: 'outrun';
      readonly directory: number;
      readonly path: Uint8Array;
      readonly to: number;
      readonly maxMs: number;
    };

export type RemovalAnswer =
  | { readonly done: boolean }
  | { readonly failed: string; readonly code?: string | undefined };

/** What tells this file's thread from others that load it. */
export const removalThread = 'removal';
/** The address of this file, in whatever bundle it is. */
export const threadUrl = import.meta.url;

const namesAtATime = 256;
/** No clock can be handed to a thread. */
const clock = systemClock();

function carryOut(task: RemovalTask): boolean {
  const untilMs = clock.monotonic() + task.maxMs;
  return task.kind === 'empty' ? empty(task.directory, untilMs) : outrun(task, untilMs);
}

/** Answers whether it got to the end in time. What it cannot remove stays, for whoever can say why. */
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

/** One moment in which the folder is empty is enough: once it is gone, nothing can be written into it any more. */
function outrun({ directory, path, to }: Extract<RemovalTask, { kind: 'outrun' }>, untilMs: number): boolean {
  const top = Buffer.from(path);
  while (clock.monotonic() < untilMs) {
    const code = codeOfFailure(() => rmdirSync(top));
    if (code === undefined || code === 'ENOENT') return true;
    if (code === 'ENOTDIR') return false;
    if (code !== 'ENOTEMPTY') throw failed(code);
    // Only its first names: a writer may add to a folder faster than it can be read to its end.
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

/** Fewer than there may be at a time only at the end. */
function nextNames(folder: Dir): readonly Buffer[] {
  const names: Buffer[] = [];
  while (names.length < namesAtATime) {
    const name = nextName(folder);
    if (name === undefined) break;
    names.push(name);
  }
  return names;
}

/** The declarations of Node know nothing of names that are bytes, which `encoding: 'buffer'` gives. */
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
