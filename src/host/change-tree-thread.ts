import { chmodSync, chownSync, closeSync, constants, fstatSync, opendirSync, openSync, type Dir } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { TubeletError } from '../base/errors.ts';
import { changeFor, type GroupAccess } from '../model/group-access.ts';
import { factsOf, isAbsence, oPath } from './path-handle.ts';

/** What a thread gets. Its caller holds the folder open. */
export interface TreeTask {
  readonly top: string;
  readonly device: number;
  readonly access: GroupAccess;
  /** How many levels of folders there may be: each level keeps two descriptors open. */
  readonly maxDepth: number;
}

export type TreeProgress =
  | { readonly processed: number }
  | { readonly done: true }
  | { readonly failed: string; readonly code?: string };

/** The address of this file, in whatever bundle it is. */
export const threadUrl = import.meta.url;

const reportEvery = 256;
const namesAtATime = 256;

class TreeWalk {
  readonly #task: TreeTask;
  readonly #report: (progress: TreeProgress) => void;
  #unreported = 0;

  constructor(task: TreeTask, report: (progress: TreeProgress) => void) {
    this.#task = task;
    this.#report = report;
  }

  run(): void {
    try {
      this.#change(Buffer.from(`${this.#task.top}/.`), 0);
      this.#report({ processed: this.#unreported });
      this.#report({ done: true });
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      this.#report({ failed: message, ...(code !== undefined && { code }) });
    }
  }

  /** Contents come first: if the top folder is right, everything below it is right too. */
  #change(path: Buffer, depth: number): void {
    const fd = openIfPresent(path);
    if (fd === undefined) return;
    try {
      const stats = fstatSync(fd);
      // Another file system is not part of the volume: it was mounted here.
      if (stats.dev !== this.#task.device) return;
      const facts = factsOf(stats);
      if (facts.kind === 'folder') this.#changeInside(fd, depth);
      const change = changeFor(this.#task.access, facts);
      if (change?.gid !== undefined) chownSync(shownAt(fd), facts.uid, change.gid);
      if (change?.mode !== undefined) chmodSync(shownAt(fd), change.mode);
      this.#count();
    } finally {
      closeSync(fd);
    }
  }

  #changeInside(fd: number, depth: number): void {
    const { maxDepth } = this.#task;
    if (depth > maxDepth) throw new TubeletError('invalid', `folders are nested more than ${maxDepth} deep`);
    const above = Buffer.from(`${shownAt(fd)}/`);
    // Read in portions: a folder may have more names than this thread has memory for.
    const folder = opendirSync(shownAt(fd), { encoding: 'buffer' as BufferEncoding, bufferSize: namesAtATime });
    try {
      for (let name = nextName(folder); name !== undefined; name = nextName(folder)) {
        this.#change(Buffer.concat([above, name]), depth + 1);
      }
    } finally {
      folder.closeSync();
    }
  }

  #count(): void {
    if (++this.#unreported < reportEvery) return;
    this.#report({ processed: this.#unreported });
    this.#unreported = 0;
  }
}

const shownAt = (fd: number): string => `/proc/self/fd/${fd}`;

/** The declarations of Node lack names as bytes, which `encoding: 'buffer'` gives. */
function nextName(folder: Dir): Buffer | undefined {
  const name: unknown = folder.readSync()?.name;
  return name instanceof Buffer ? name : undefined;
}

function openIfPresent(path: Buffer): number | undefined {
  try {
    return openSync(path, oPath | constants.O_NOFOLLOW);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

if (parentPort !== null && isTask(workerData)) {
  const port = parentPort;
  new TreeWalk(workerData, (progress) => port.postMessage(progress)).run();
}

/** Only a thread that was started with a task works; an import of this file for its address must not. */
function isTask(data: unknown): data is TreeTask {
  return typeof data === 'object' && data !== null && 'top' in data && 'access' in data;
}
