import { constants } from 'node:fs';
import { lstat, open, readlink, symlink, unlink, type FileHandle } from 'node:fs/promises';
import { raceAbort } from '../base/abort.ts';
import { TubeletError } from '../base/errors.ts';
import { mappedError } from './files.ts';

/** Limit of devices that do not answer to being opened: each occupies one of the agent's few threads. */
const maxOpening = 3;

interface HostBlockDevicesOptions {
  readonly open?: (path: string) => Promise<FileHandle>;
}

/** Block devices that pods have: links that lead to them, and descriptors that keep their numbers their own. */
export class HostBlockDevices {
  readonly #held = new Map<string, FileHandle>();
  readonly #opening = new Set<string>();
  readonly #open: (path: string) => Promise<FileHandle>;

  constructor({ open: openBy = openDevice }: HostBlockDevicesOptions = {}) {
    this.#open = openBy;
  }

  async link(path: string, target: string): Promise<void> {
    try {
      await symlink(target, path);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw mappedError(error);
      if ((await readlink(path).catch(rethrow)) === target) return;
      await unlink(path).catch(rethrow);
      await symlink(target, path).catch(rethrow);
    }
  }

  /** Removes the path only if it is a link; anything else stays. */
  async unlink(path: string): Promise<void> {
    try {
      if (!(await lstat(path)).isSymbolicLink()) throw new TubeletError('conflict', `${path} is not a link`);
      await unlink(path);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw mappedError(error);
    }
  }

  /** A device that does not answer is closed when it does, and is not opened a second time before. */
  async hold(path: string, signal: AbortSignal): Promise<void> {
    if (this.#held.has(path)) return;
    if (this.#opening.has(path)) throw new TubeletError('unavailable', `${path} does not answer`);
    if (this.#opening.size >= maxOpening) {
      const paths = [...this.#opening].join(', ');
      throw new TubeletError('unavailable', `${path} has to wait for other devices to be opened: ${paths}`);
    }
    this.#opening.add(path);
    const opening = this.#open(path).finally(() => this.#opening.delete(path));
    try {
      this.#held.set(path, await raceAbort(opening, signal));
    } catch (error) {
      void opening.then(
        (late) => late.close(),
        () => undefined,
      );
      throw error;
    }
  }

  async release(path: string): Promise<void> {
    const held = this.#held.get(path);
    this.#held.delete(path);
    await held?.close();
  }

  async removePlaceholder(path: string): Promise<void> {
    try {
      const found = await lstat(path);
      if (!found.isFile() || found.size > 0) throw new TubeletError('conflict', `${path} is not an empty file`);
      await unlink(path);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw mappedError(error);
    }
  }
}

async function openDevice(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(rethrow);
  if ((await file.stat()).isBlockDevice()) return file;
  await file.close();
  throw new TubeletError('invalid', `${path} is not a block device`);
}

function rethrow(error: unknown): never {
  throw mappedError(error);
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}
