import { chmodSync, chownSync, closeSync, constants, fstatSync, opendirSync, openSync, type Dir } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { TubeletError } from '../base/errors.ts';
import { changeFor, type GroupAccess } from '../model/group-access.ts';
import { factsOf, isAbsence, oPath } from './path-handle.ts';

/** What a thread is told. The folder is one that is held open by whoever started it. */
export interface TreeTask {
  readonly top: string;
  readonly device: number;
  readonly access: GroupAccess;
  /** How many folders may be inside each other: two descriptors are open for every one on the way. */
  readonly deepest: number;
}

export type TreeNews =
  | { readonly processed: number }
  | { readonly done: true }
  | { readonly failed: string; readonly code?: string };

/** The address of this file, in whatever bundle it is. */
export const threadUrl = import.meta.url;

const newsEvery = 256;
const namesAtATime = 256;

class TreeWalk {
  readonly #task: TreeTask;
  readonly #tell: (news: TreeNews) => void;
  #untold = 0;

  constructor(task: TreeTask, tell: (news: TreeNews) => void) {
    this.#task = task;
    this.#tell = tell;
  }

  run(): void {
    try {
      this.#change(Buffer.from(`${this.#task.top}/.`), 0);
      this.#tell({ processed: this.#untold });
      this.#tell({ done: true });
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      this.#tell({ failed: message, ...(code !== undefined && { code }) });
    }
  }

  /** What is inside comes first: a top that is right then means that all is. */
  #change(path: Buffer, depth: number): void {
    const fd = openUnlessGone(path);
    if (fd === undefined) return;
    try {
      const stats = fstatSync(fd);
      // Another file system is somebody else's: it was mounted here, it is not part of the volume.
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
    const { deepest } = this.#task;
    if (depth > deepest) throw new TubeletError('invalid', `folders are nested more than ${deepest} deep`);
    const above = Buffer.from(`${shownAt(fd)}/`);
    // Read in portions: a folder may have more names than the memory of this thread.
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
    if (++this.#untold < newsEvery) return;
    this.#tell({ processed: this.#untold });
    this.#untold = 0;
  }
}

const shownAt = (fd: number): string => `/proc/self/fd/${fd}`;

/** The declarations of Node know nothing of names that are bytes, which `encoding: 'buffer'` gives. */
function nextName(folder: Dir): Buffer | undefined {
  const name: unknown = folder.readSync()?.name;
  return name instanceof Buffer ? name : undefined;
}

function openUnlessGone(path: Buffer): number | undefined {
  try {
    return openSync(path, oPath | constants.O_NOFOLLOW);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

if (parentPort !== null && isTask(workerData)) {
  const port = parentPort;
  new TreeWalk(workerData, (news) => port.postMessage(news)).run();
}

/** Whoever loads this file for its address, in a thread or not, does no work. */
function isTask(data: unknown): data is TreeTask {
  return typeof data === 'object' && data !== null && 'top' in data && 'access' in data;
}
