import { constants } from 'node:fs';
import { open, readlink, stat as statPath, type FileHandle } from 'node:fs/promises';
import type { FileKind, FileFacts } from '../model/file-facts.ts';
import { mappedError } from './files.ts';

/** Linux: a descriptor that names a file without opening it. Does not wait for pipes and does not touch devices. */
export const oPath = 0o10000000;

interface Stats {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
  isSocket(): boolean;
  isCharacterDevice(): boolean;
  isBlockDevice(): boolean;
  isFIFO(): boolean;
}

export function factsOf(stats: Stats): FileFacts {
  return { kind: kindOf(stats), mode: stats.mode & 0o7777, uid: stats.uid, gid: stats.gid };
}

function kindOf(stats: Stats): FileKind {
  if (stats.isDirectory()) return 'folder';
  if (stats.isSymbolicLink()) return 'link';
  if (stats.isSocket()) return 'socket';
  if (stats.isCharacterDevice()) return 'charDevice';
  if (stats.isBlockDevice()) return 'blockDevice';
  return stats.isFIFO() ? 'pipe' : 'file';
}

/** Opens a path itself, a link as a link. Undefined when it is missing. */
export async function openPath(path: string | Buffer): Promise<FileHandle | undefined> {
  try {
    return await open(path, oPath | constants.O_NOFOLLOW);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw mappedError(error);
  }
}

/** A path that keeps leading to the open file, even after it was moved or replaced. */
export const pathOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

/** An entry of an open folder. The name is one name: no slash, no dots. */
export function entryOf(folder: FileHandle, name: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${pathOf(folder)}/`), typeof name === 'string' ? Buffer.from(name) : name]);
}

/** The target of a link in an open folder; undefined when it is not a link any more. */
export async function targetOf(folder: FileHandle, name: string): Promise<string | undefined> {
  try {
    return await readlink(entryOf(folder, name));
  } catch (error) {
    if (isAbsence(error) || (error as NodeJS.ErrnoException).code === 'EINVAL') return undefined;
    throw mappedError(error);
  }
}

/** What exists at a path, through links; undefined where nothing exists. */
export async function stat(path: string): Promise<FileFacts | undefined> {
  try {
    return factsOf(await statPath(path));
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw mappedError(error);
  }
}

export function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
}
