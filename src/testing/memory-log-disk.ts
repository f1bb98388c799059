import { basename, dirname } from 'node:path';
import { raceAbort } from '../base/abort.ts';
import { TubeletError } from '../base/errors.ts';

interface LogFile {
  size: number;
  /** Numbers of the pieces in it, in the order in which they were written. */
  readonly pieces: number[];
  compressed: boolean;
}

/**
 * Log files of sizes instead of contents, with writers that hold a file open: after a rename they go on writing to the
 * renamed one until they are told to reopen, as a container runtime does. Pieces are numbered, so that it can be told
 * what was kept and in which order.
 */
export class MemoryLogDisk {
  readonly files = new Map<string, LogFile>();
  /** Asked before every change; what it throws is what the caller gets, and what it waits for keeps the caller waiting. */
  fault: (operation: string, path: string) => void | Promise<void> = () => {};
  /** The largest that any file with this beginning ever was. */
  readonly largest = new Map<string, number>();
  readonly #open = new Map<string, LogFile>();
  readonly #watches = new Map<LogFile, Set<() => void>>();
  #pieces = 0;

  get watching(): number {
    return [...this.#watches.values()].reduce((sum, watches) => sum + watches.size, 0);
  }

  /** The writer of this path opens what is there, or makes it. */
  reopen(path: string): void {
    const file = this.files.get(path) ?? { size: 0, pieces: [], compressed: false };
    this.files.set(path, file);
    this.#open.set(path, file);
  }

  /** The writer of this path writes into the file it has open. */
  write(path: string, bytes: number): void {
    const file = this.#open.get(path);
    if (file === undefined) throw new Error(`nobody has opened ${path}`);
    file.size += bytes;
    file.pieces.push(this.#pieces++);
    this.largest.set(path, Math.max(this.largest.get(path) ?? 0, file.size));
    for (const tell of this.#watches.get(file) ?? []) tell();
  }

  /** Names in a folder with their pieces, the oldest file first. */
  kept(path: string): readonly number[] {
    const own = [...this.files].filter(([other]) => other.startsWith(path) && !other.endsWith('.tmp'));
    const rotated = own.filter(([other]) => other !== path).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return [...rotated, ...own.filter(([other]) => other === path)].flatMap(([, { pieces }]) => pieces);
  }

  async size(path: string): Promise<number | undefined> {
    await this.fault('size', path);
    return this.files.get(path)?.size;
  }

  async list(folder: string, beginning: string): Promise<readonly string[]> {
    const names = [...this.files.keys()].filter((path) => dirname(path) === folder).map((path) => basename(path));
    return names.filter((name) => name.startsWith(beginning));
  }

  async rename(from: string, to: string): Promise<void> {
    await this.fault('rename', from);
    if (this.files.has(to)) throw new Error(`${to} would be overwritten`);
    this.#move(from, to);
  }

  async renameBack(from: string, to: string): Promise<void> {
    await this.fault('renameBack', from);
    if (this.files.has(to)) throw new TubeletError('alreadyExists', `there is something at ${to}`);
    this.#move(from, to);
  }

  async remove(path: string): Promise<void> {
    await this.fault('remove', path);
    this.files.delete(path);
  }

  async compress(from: string, to: string, signal: AbortSignal): Promise<void> {
    const source = this.#at(from);
    this.files.set(to, { pieces: [...source.pieces], size: Math.ceil(source.size / 10), compressed: true });
    await raceAbort(Promise.resolve(this.fault('compress', from)), signal);
  }

  watch(path: string, onChange: () => void): () => void {
    const file = this.#at(path);
    const watches = this.#watches.get(file) ?? new Set();
    this.#watches.set(file, watches.add(onChange));
    return () => void watches.delete(onChange);
  }

  #move(from: string, to: string): void {
    const file = this.#at(from);
    this.files.delete(from);
    this.files.set(to, file);
  }

  #at(path: string): LogFile {
    const file = this.files.get(path);
    if (file === undefined) throw new TubeletError('notFound', `no such file: ${path}`);
    return file;
  }
}
