import { createHash } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import { mkdir, open, realpath, rmdir, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import { systemClock } from '../base/system-clock.ts';
import { entriesInPortions } from './folder-names.ts';
import { mountsAtOrBelow, readMountInfo, type MountEntry } from './mountinfo.ts';
import { codeOf, entryPath, moveAway } from './move-away.ts';
import { NameRemover } from './remove-names.ts';

/** A process may still write into a directory while it is emptied, so it is emptied at most so many times. */
const maxPasses = 3;
/**
 * A directory on the way down is open for each level. Containers can make trees of any depth, and must not be able to
 * use up the agent's descriptors that way: deeper directories are moved to the top of the tree and removed from there.
 */
const maxDepth = 100;
/**
 * A tree may have millions of names, and a process may go on making new ones. The next call removes what is left: every
 * caller retries a removal that fails.
 */
const maxRemovalMs = 10 * 60_000;
/** How long a thread competes with a process that writes into a folder; it usually wins within milliseconds. */
const maxContendedMs = 2_000;
/** In folders with more names a thread removes the files and empty folders. */
const maxNamesHere = 1_000;
/** A directory that was moved away from a writer may be contended again, by a process that has it open. */
const maxAsides = 8;
/** Limit of contended directories in one tree; after that the whole tree is moved away from its writer. */
const maxContended = 20;

interface SafeRemoveOptions {
  readonly clock?: Pick<Clock, 'monotonic'>;
  readonly mounts?: () => readonly MountEntry[];
}

/**
 * Removes a path with everything below it, as long as all of it is on one file system. It never follows a link and never
 * leaves the file system: files there may be a user's data. If anything is mounted inside, it removes nothing and names
 * the mount. A missing path is no error.
 *
 * Directories are opened by descriptor, each from the one above it, so that no process can swap one for a link on the way.
 */
export async function safeRemove(path: string, options: SafeRemoveOptions = {}): Promise<void> {
  const clean = normalize(path).replace(/(.)\/$/, '$1');
  if (!isAbsolute(clean) || clean === '/') throw new TubeletError('invalid', `refusing to remove "${path}"`);
  const parent = await ignoreNotFound(realpath(dirname(clean)));
  if (parent === undefined) return;
  const real = join(parent, basename(clean));
  const requireNoMount = (): void => {
    const [mount] = mountsAtOrBelow((options.mounts ?? readMountInfo)(), real);
    if (mount !== undefined) throw refusal(real, `${mount.mountPoint} is a mount point (${mount.fsType})`);
  };
  requireNoMount();

  const directory = await openDirectory(parent);
  if (directory === undefined) return;
  try {
    const { clock = systemClock() } = options;
    const removal = {
      filesystem: await filesystemIdOf(directory),
      requireNoMount,
      names: new NameRemover(),
      top: basename(clean),
      isTimedOut: deadline(clock, maxRemovalMs),
      moved: 0,
      asides: 0,
      contended: 0,
    };
    try {
      for (let number = 1; number <= maxAsides; number++) {
        const aside = asideName(removal.top, number);
        await removeEntry(directory, Buffer.from(aside), join(parent, aside), removal, []);
      }
      await removeEntry(directory, Buffer.from(removal.top), real, removal, []);
    } finally {
      await removal.names.close();
    }
  } finally {
    await directory.close();
  }
}

function deadline(clock: Pick<Clock, 'monotonic'>, ms: number): () => boolean {
  const untilMs = clock.monotonic() + ms;
  return () => clock.monotonic() >= untilMs;
}

/**
 * Where the contents of a contended directory are moved: beside it, under a name by which its next removal finds them.
 */
const asideName = (top: string, number: number): string =>
  `.removed-${createHash('sha256').update(top).digest('hex').slice(0, 16)}-${number}`;

/**
 * What identifies the file system of a directory. Two mounts of one file system share the device, so the mount counts
 * too.
 */
interface FilesystemId {
  readonly device: number;
  readonly mountId: string;
}

async function filesystemIdOf(directory: FileHandle): Promise<FilesystemId> {
  const { dev } = await directory.stat();
  const info = readFileSync(`/proc/self/fdinfo/${directory.fd}`, 'utf8');
  return { device: dev, mountId: /^mnt_id:\s*(\d+)$/m.exec(info)?.[1] ?? '' };
}

const refusal = (path: string, why: string): TubeletError =>
  new TubeletError('conflict', `refusing to remove ${path}: ${why}`);

/** One removal; its whole tree must be on the file system of its top. */
interface Removal {
  readonly filesystem: FilesystemId;
  /** A move would take along what is mounted below, and the program that mounted it would not find it again. */
  readonly requireNoMount: () => void;
  readonly names: NameRemover;
  /** The last name of the path. */
  readonly top: string;
  readonly isTimedOut: () => boolean;
  /** Of directories that were too deep. */
  moved: number;
  asides: number;
  contended: number;
}

/** `above` has the open directories of the tree, its top first. */
async function removeEntry(
  parent: FileHandle,
  name: Buffer,
  shown: string,
  removal: Removal,
  above: readonly FileHandle[],
): Promise<void> {
  const path = entryPath(parent, name);
  for (let pass = 1; pass <= maxPasses; pass++) {
    if (await removeFile(path, shown)) return;
    const directory = await openDirectory(path);
    if (directory === undefined) continue;
    const { moved } = removal;
    try {
      await requireSameFilesystem(directory, shown, removal.filesystem);
      const [top] = above;
      if (top !== undefined && above.length >= maxDepth) {
        moving(shown, () => moveAway(path, top));
        removal.moved++;
        return;
      }
      await emptyDirectory(directory, shown, removal, [...above, directory]);
    } catch (error) {
      if (above.length > 0 || !(error instanceof Contended)) throw error;
      break;
    } finally {
      await directory.close();
    }
    if (await removeEmptyDirectory(path, shown)) return;
    // Directories that were moved from below to the top are no sign of a process that writes.
    if (above.length === 0 && removal.moved > moved) pass = 0;
  }
  if (!(await removeContended(parent, name, shown, removal, above))) throw new Contended(shown);
}

class Contended extends TubeletError {
  constructor(shown: string) {
    super('conflict', `cannot remove ${shown}: a process keeps writing into it`);
  }
}

/**
 * Moves the contents of a contended directory to the top of the tree; those of the top itself beside it, and removes
 * them.
 */
async function removeContended(
  parent: FileHandle,
  name: Buffer,
  shown: string,
  removal: Removal,
  [top]: readonly FileHandle[],
): Promise<boolean> {
  const path = entryPath(parent, name);
  const directory = await openDirectory(path);
  if (directory === undefined) return removeFile(path, shown);
  try {
    await requireSameFilesystem(directory, shown, removal.filesystem);
    removal.requireNoMount();
    if (top !== undefined)
      return removal.contended++ < maxContended && (await removeInThread(removal, shown, directory, path, top));
    removal.contended = 0;
    if (++removal.asides > maxAsides) return false;
    const aside = Buffer.from(asideName(removal.top, removal.asides));
    await mkdir(entryPath(parent, aside), 0o700);
    const emptied = await moveContentsTo(parent, aside, shown, removal, directory, path);
    await removeEntry(parent, aside, join(dirname(shown), aside.toString()), removal, []);
    return emptied;
  } finally {
    await directory.close();
  }
}

async function moveContentsTo(
  parent: FileHandle,
  aside: Buffer,
  shown: string,
  removal: Removal,
  directory: FileHandle,
  path: Buffer,
): Promise<boolean> {
  const to = await openDirectory(entryPath(parent, aside));
  if (to === undefined) return false;
  try {
    await requireSameFilesystem(to, shown, removal.filesystem);
    return await removeInThread(removal, shown, directory, path, to);
  } finally {
    await to.close();
  }
}

/** After the directory is removed, a process that has it open can write nothing into it. Answers false on timeout. */
async function removeInThread(
  { names }: Removal,
  shown: string,
  directory: FileHandle,
  path: Buffer,
  to: FileHandle,
): Promise<boolean> {
  try {
    return await names.run({
      kind: 'removeContended',
      directory: directory.fd,
      path,
      to: to.fd,
      maxMs: maxContendedMs,
    });
  } catch (error) {
    throw movingFailure(shown, error);
  }
}

function moving<T>(shown: string, move: () => T): T {
  try {
    return move();
  } catch (error) {
    throw movingFailure(shown, error);
  }
}

function movingFailure(shown: string, error: unknown): TubeletError {
  const code = codeOf(error);
  return code === 'EBUSY' || code === 'EXDEV' ? refusal(shown, 'it has a mount point') : failure(shown, error);
}

/** Unlinks anything but a directory; answers false for a directory. */
async function removeFile(path: Buffer, shown: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return true;
    if (code === 'EISDIR') return false;
    if (code === 'EBUSY') throw refusal(shown, 'it is a mount point');
    throw failure(shown, error);
  }
}

async function requireSameFilesystem(directory: FileHandle, shown: string, filesystem: FilesystemId): Promise<void> {
  const { device, mountId } = await filesystemIdOf(directory);
  if (device !== filesystem.device) throw refusal(shown, 'it is on another file system');
  if (mountId !== filesystem.mountId) throw refusal(shown, 'it is a mount point');
}

async function emptyDirectory(
  directory: FileHandle,
  shown: string,
  removal: Removal,
  above: readonly FileHandle[],
): Promise<void> {
  let seen = 0;
  let isHandedOver = false;
  for await (const entries of entriesInPortions(`/proc/self/fd/${directory.fd}`)) {
    requireTime(shown, removal);
    for (const { name } of entries) await removeEntry(directory, name, `${shown}/${name.toString()}`, removal, above);
    seen += entries.length;
    if (seen < maxNamesHere || isHandedOver || !removal.names.isReady) continue;
    // Entries that appear after that were left by the thread: folders with contents, and mount points.
    isHandedOver = true;
    await removal.names.run({ kind: 'empty', directory: directory.fd, maxMs: maxRemovalMs });
  }
}

function requireTime(shown: string, { isTimedOut }: Removal): void {
  if (!isTimedOut()) return;
  const words = `it was not completely removed within ${maxRemovalMs / 60_000} minutes, the next try removes the rest`;
  throw new TubeletError('timeout', `cannot remove ${shown}: ${words}`);
}

/** Answers false when the directory got new entries and another pass may help. */
async function removeEmptyDirectory(path: Buffer, shown: string): Promise<boolean> {
  try {
    await rmdir(path);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return true;
    if (code === 'ENOTEMPTY' || code === 'ENOTDIR') return false;
    if (code === 'EBUSY') throw refusal(shown, 'it is a mount point');
    throw failure(shown, error);
  }
}

/** Undefined when it is missing or not a directory any more; the next pass then finds out what it is. */
async function openDirectory(path: string | Buffer): Promise<FileHandle | undefined> {
  return ignoreNotFound(open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW));
}

async function ignoreNotFound<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined;
    throw error;
  }
}

function failure(shown: string, cause: unknown): TubeletError {
  const code = codeOf(cause);
  const kind = code === 'EACCES' || code === 'EPERM' || code === 'EROFS' ? 'denied' : 'internal';
  return new TubeletError(kind, `cannot remove ${shown}: ${code ?? String(cause)}`, { cause });
}
