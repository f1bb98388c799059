import { kindOf, messageOf, TubeletError } from '../base/errors.ts';
import type { GroupAccess } from '../model/group-access.ts';
import { changeTree } from './change-tree.ts';
import { deviceBytes } from './device-bytes.ts';
import { hostFiles } from './files.ts';
import { filesystemFacts } from './filesystem-facts.ts';
import { isForeign } from './foreign-mounts.ts';
import { locateMount } from './locate-mount.ts';
import { makeFile } from './make-file.ts';
import { mountCalls } from './mounts.ts';
import { readMountInfo } from './mountinfo.ts';
import { makeBelow, openBelow, type OpenPath } from './open-below.ts';
import { stat } from './path-handle.ts';
import type { StorageAnswer, StorageCalls, StorageRequest } from './storage-messages.ts';

/** The address of this file, in whatever bundle it is. */
export const workerUrl = import.meta.url;
/** The argument that makes a process serve; an import of this file for its address serves nothing. */
export const workerRole = 'tubelet-storage';

type Asked = Extract<StorageRequest, { readonly id: number }>;

/** Carries out calls on file systems that may hang, each in a thread of this process. */
class StorageWorker {
  readonly #send: (answer: StorageAnswer) => void;
  readonly #open = new Map<number, OpenPath>();
  readonly #aborts = new Map<number, AbortController>();

  constructor(send: (answer: StorageAnswer) => void) {
    this.#send = send;
  }

  async take(request: StorageRequest): Promise<void> {
    if ('abort' in request) {
      this.#aborts.get(request.abort)?.abort(new TubeletError('cancelled', 'given up'));
      return;
    }
    const { id } = request;
    try {
      this.#send(await this.#answer(request));
    } catch (error) {
      this.#send({ id, failed: { kind: kindOf(error), message: messageOf(error) } });
    }
  }

  async #answer(request: Asked): Promise<StorageAnswer> {
    const { id, verb, args, path, cleared } = request;
    const free = new Set(cleared);
    if (path !== undefined) {
      const mayEnter = (mount: Parameters<typeof isForeign>[0]): boolean => !isForeign(mount, free);
      const crossing = await locateMount(path, { mounts: readMountInfo(), mayEnter });
      if (crossing.length > 0) return { id, crossing };
    }
    const call = this.#calls(id)[verb] as (...given: readonly unknown[]) => Promise<unknown>;
    const value = await call(...args);
    return value === undefined ? { id } : { id, value };
  }

  #calls(id: number): StorageCalls {
    return {
      stat,
      makeFile,
      makeBelow,
      deviceBytes,
      makeFolder: (path, mode) => hostFiles.makeFolder(path, mode),
      bind: (source, target) => mountCalls.bind(source, target),
      change: (target, flags, what) => mountCalls.change(target, flags, what, []),
      unmount: (target) => mountCalls.unmount(target, []),
      statfs: filesystemFacts,
      openBelow: async (volumePath, subPath) => {
        const open = await openBelow(volumePath, subPath);
        this.#open.set(id, open);
        return { handle: id, isFolder: open.isFolder, source: open.source.replace('self', String(process.pid)) };
      },
      isAt: async (handle, path) => {
        const open = this.#open.get(handle);
        if (open === undefined) throw new TubeletError('conflict', `what was to become ${path} is not open any more`);
        return open.isAt(path);
      },
      close: async (handle) => {
        const open = this.#open.get(handle);
        this.#open.delete(handle);
        await open?.close();
      },
      changeTree: (path, access) => this.#changeTree(id, path, access),
    };
  }

  async #changeTree(id: number, path: string, access: GroupAccess): Promise<void> {
    const abort = new AbortController();
    this.#aborts.set(id, abort);
    try {
      await changeTree(path, access, abort.signal, (processed) => this.#send({ id, processed }));
    } finally {
      this.#aborts.delete(id);
    }
  }
}

if (process.argv[2] === workerRole && process.send !== undefined) {
  process.title = workerRole;
  const worker = new StorageWorker((answer) => process.send?.(answer));
  process.on('message', (request: StorageRequest) => void worker.take(request));
  // A normal exit would wait for threads that hang.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  // Signals to the process group of a terminal or a service are for the process that started this one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
}
