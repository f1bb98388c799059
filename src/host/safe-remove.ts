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

/** Something may still write into a directory while it is emptied; that many times it is tried. */
const mostPasses = 3;
/**
 * A directory on the way down is open for each level. Containers can make trees of any depth, and must not be able to take
 * all descriptors of the agent that way: what is deeper is moved to the top of the tree, and its turn comes again.
 */
const deepest = 100;
/**
 * A tree may have millions of names, and a process may go on making new ones. What is left then is removed by the next
 * call: whoever removes something tries again when it fails.
 */
const maxRemovalMs = 10 * 60_000;
/** A process that writes into a folder is raced for that long; it is lost within milliseconds as a rule. */
const maxRaceMs = 2_000;
/** Folders with more names are emptied by a thread, as far as files and empty folders are in them. */
const maxNamesHere = 1_000;
/** What was moved out of a writer's reach may be contested in turn, by who has it open. */
const mostAsides = 8;
/** Directories of one tree that a writer is outrun in; then the whole tree is moved out of its reach. */
const mostRaces = 20;

interface SafeRemoveOptions {
  readonly clock?: Pick<Clock, 'monotonic'>;
  readonly mounts?: () => readonly MountEntry[];
}

/**
 * Removes a path with all that is below it, as long as it is all on one file system. It never follows a link and never
 * leaves the file system: what it would meet there may be a user's data. Where something is mounted it removes nothing
 * and names the mount. A path that is not there is fine.
 *
 * Directories are entered by descriptor, each from the one above it, so that nobody can swap one for a link on the way.
 */
export async function safeRemove(path: string, options: SafeRemoveOptions = {}): Promise<void> {
  const clean = normalize(path).replace(/(.)\/$/, '$1');
  if (!isAbsolute(clean) || clean === '/') throw new TubeletError('invalid', `refusing to remove "${path}"`);
  const parent = await ifThere(realpath(dirname(clean)));
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
      home: await placeOf(directory),
      requireNoMount,
      names: new NameRemover(),
      top: basename(clean),
      isOver: deadline(clock, maxRemovalMs),
      moved: 0,
      asides: 0,
      races: 0,
    };
    try {
      for (let number = 1; number <= mostAsides; number++) {
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

/** Where what is in a contested directory goes: beside it, under a name by which the next removal of it finds it. */
const asideName = (top: string, number: number): string =>
  `.removed-${createHash('sha256').update(top).digest('hex').slice(0, 16)}-${number}`;

/** Where a directory lives. Two mounts of one file system share the device, so the mount counts too. */
interface Place {
  readonly device: number;
  readonly mountId: string;
}

async function placeOf(directory: FileHandle): Promise<Place> {
  const { dev } = await directory.stat();
  const info = readFileSync(`/proc/self/fdinfo/${directory.fd}`, 'utf8');
  return { device: dev, mountId: /^mnt_id:\s*(\d+)$/m.exec(info)?.[1] ?? '' };
}

const refusal = (path: string, why: string): TubeletError =>
  new TubeletError('conflict', `refusing to remove ${path}: ${why}`);

/** One removal; all of its tree is where its top is. */
interface Removal {
  readonly home: Place;
  /** What is moved takes along what is mounted below it, and whoever mounted that would not find it again. */
  readonly requireNoMount: () => void;
  readonly names: NameRemover;
  /** The last name of the path. */
  readonly top: string;
  readonly isOver: () => boolean;
  /** Of those that were too deep. */
  moved: number;
  asides: number;
  races: number;
}

/** `above` has the directories of the tree that are open, its top first. */
async function removeEntry(
  parent: FileHandle,
  name: Buffer,
  shown: string,
  removal: Removal,
  above: readonly FileHandle[],
): Promise<void> {
  const path = entryPath(parent, name);
  for (let pass = 1; pass <= mostPasses; pass++) {
    if (await removeFile(path, shown)) return;
    const directory = await openDirectory(path);
    if (directory === undefined) continue;
    const { moved } = removal;
    try {
      await requireHome(directory, shown, removal.home);
      const [top] = above;
      if (top !== undefined && above.length >= deepest) {
        moving(shown, () => moveAway(path, top));
        removal.moved++;
        return;
      }
      await emptyDirectory(directory, shown, removal, [...above, directory]);
    } catch (error) {
      if (above.length > 0 || !(error instanceof Contested)) throw error;
      break;
    } finally {
      await directory.close();
    }
    if (await removeEmptyDirectory(path, shown)) return;
    // What came from below to the top is no sign of a process that writes.
    if (above.length === 0 && removal.moved > moved) pass = 0;
  }
  if (!(await outrun(parent, name, shown, removal, above))) throw new Contested(shown);
}

class Contested extends TubeletError {
  constructor(shown: string) {
    super('conflict', `cannot remove ${shown}: a process keeps writing into it`);
  }
}

/** What is in a contested directory goes to the top of the tree; for the top itself, beside it, to be removed there. */
async function outrun(
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
    await requireHome(directory, shown, removal.home);
    removal.requireNoMount();
    if (top !== undefined) return removal.races++ < mostRaces && (await race(removal, shown, directory, path, top));
    removal.races = 0;
    if (++removal.asides > mostAsides) return false;
    const aside = Buffer.from(asideName(removal.top, removal.asides));
    await mkdir(entryPath(parent, aside), 0o700);
    const won = await raceTo(parent, aside, shown, removal, directory, path);
    await removeEntry(parent, aside, join(dirname(shown), aside.toString()), removal, []);
    return won;
  } finally {
    await directory.close();
  }
}

async function raceTo(
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
    await requireHome(to, shown, removal.home);
    return await race(removal, shown, directory, path, to);
  } finally {
    await to.close();
  }
}

/** Once the directory is gone, whoever has it open can write into it no more. Answers false when that took too long. */
async function race(
  { names }: Removal,
  shown: string,
  directory: FileHandle,
  path: Buffer,
  to: FileHandle,
): Promise<boolean> {
  try {
    return await names.run({ kind: 'outrun', directory: directory.fd, path, to: to.fd, maxMs: maxRaceMs });
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

async function requireHome(directory: FileHandle, shown: string, home: Place): Promise<void> {
  const { device, mountId } = await placeOf(directory);
  if (device !== home.device) throw refusal(shown, 'it is on another file system');
  if (mountId !== home.mountId) throw refusal(shown, 'it is a mount point');
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
    // What comes here after that is what the thread has left: folders with something in them, and what is mounted.
    isHandedOver = true;
    await removal.names.run({ kind: 'empty', directory: directory.fd, maxMs: maxRemovalMs });
  }
}

function requireTime(shown: string, { isOver }: Removal): void {
  if (!isOver()) return;
  const words = `not all of it was removed within ${maxRemovalMs / 60_000} minutes, the rest is left to the next try`;
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

/** Nothing when it is not there, or no directory any more; the next pass then sees what it is. */
async function openDirectory(path: string | Buffer): Promise<FileHandle | undefined> {
  return ifThere(open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW));
}

async function ifThere<T>(promise: Promise<T>): Promise<T | undefined> {
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
