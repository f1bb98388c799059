import { dirname } from 'node:path';
import { TubeletError } from '../base/errors.ts';
import { PathMap } from './path-map.ts';

export interface MemoryEntry {
  readonly content?: string | Uint8Array;
  /** Of a link. */
  readonly target?: string;
  readonly mode: number;
  readonly uid?: number;
  readonly gid?: number;
}

/** A file tree in memory with the ports of pod directories, and failures on demand. */
export class MemoryFiles {
  readonly entries: PathMap<MemoryEntry>;
  /** What is mounted where, the last over the others: options of a file system, or the source of a bind. */
  readonly mounts: Map<string, readonly string[]>;
  /** Asked before every change; what it throws is what the caller gets. */
  fault: (operation: string, path: string) => void = () => {};

  /** A disk of its own, or another way to one that is there, with faults of its own. */
  constructor({ entries = new PathMap(), mounts = new Map() }: Partial<Pick<MemoryFiles, 'entries' | 'mounts'>> = {}) {
    this.entries = entries;
    this.mounts = mounts;
  }

  /** Where a path leads through what is bound: what is done there is done to the source. */
  real(path: string): string {
    const points = [...this.mounts].filter(([point]) => path === point || path.startsWith(`${point}/`));
    const [point, options] = points.toSorted(([one], [other]) => other.length - one.length)[0] ?? [];
    const source = /^bind (?<source>.*)$/.exec(options?.[0] ?? '')?.groups?.['source'];
    return point === undefined || source === undefined ? path : this.real(source) + path.slice(point.length);
  }

  async makeFolder(shown: string, mode: number): Promise<void> {
    this.fault('makeFolder', shown);
    const path = this.real(shown);
    this.#makeAbove(path, mode);
    this.entries.set(path, { ...this.entries.get(path), mode });
  }

  async writeFile(shown: string, content: string, mode: number): Promise<void> {
    this.fault('writeFile', shown);
    const path = this.real(shown);
    if (!this.entries.has(dirname(path))) throw new TubeletError('notFound', `no such folder: ${dirname(path)}`);
    this.entries.set(path, { content, mode });
  }

  async replaceFile(path: string, content: string, mode: number): Promise<void> {
    await this.writeFile(path, content, mode);
  }

  async removeFile(path: string): Promise<void> {
    await this.removeTree(path);
  }

  /** What others write on this disk, a runtime its logs say: without faults, and with the folders above. */
  append(path: string, text: string): void {
    this.#makeAbove(path, 0o755);
    const { content = '', mode = 0o640 } = this.entries.get(path) ?? {};
    this.entries.set(path, { content: asText(content) + text, mode });
  }

  async readText(path: string): Promise<string> {
    const content = this.entries.get(this.real(path))?.content;
    if (content === undefined) throw new TubeletError('notFound', `no such file: ${path}`);
    return asText(content);
  }

  async list(path: string, keep: (name: string) => boolean = () => true): Promise<readonly string[]> {
    return this.entries.names(this.real(path)).filter(keep);
  }

  async removeTree(path: string): Promise<void> {
    this.fault('removeTree', path);
    const [mount] = this.mountsBelow(path);
    if (mount !== undefined) {
      throw new TubeletError('conflict', `refusing to remove ${path}: ${mount} is a mount point (memory)`);
    }
    // From inside a bind nobody sees that it is one.
    this.forget(this.real(path));
  }

  async removeEmpty(path: string): Promise<void> {
    this.fault('removeEmpty', path);
    if (this.mounts.has(path)) throw new TubeletError('conflict', `EBUSY: ${path} is a mount point`);
    if ((await this.list(path)).length > 0) throw new TubeletError('conflict', `ENOTEMPTY: ${path} is not empty`);
    this.entries.delete(this.real(path));
  }

  has(path: string): boolean {
    return this.entries.has(path);
  }

  /** Every path below, with its mode in octal. */
  tree(below: string): string[] {
    return [...this.entries]
      .filter(([path]) => path.startsWith(`${below}/`))
      .map(([path, { mode }]) => `${mode.toString(8)} ${path.slice(below.length + 1)}`)
      .toSorted();
  }

  /** Every path below with its mode, owner, kind and, for a link, target. */
  listing(below: string): string[] {
    return [...this.entries]
      .filter(([path]) => path.startsWith(`${below}/`))
      .map(([path, { mode, uid = 0, gid = 0, target, content }]) => {
        const kind = target === undefined ? (content === undefined ? 'd' : 'f') : 'l';
        const end = target === undefined ? '' : ` -> ${target}`;
        return `${mode.toString(8)} ${uid}:${gid} ${kind} ${path.slice(below.length + 1)}${end}`;
      })
      .toSorted();
  }

  /** The mount points at and below a path, deepest first. */
  mountsBelow(path: string): readonly string[] {
    return [...this.mounts.keys()]
      .filter((point) => point === path || point.startsWith(`${path}/`))
      .toSorted((one, other) => other.length - one.length);
  }

  /** Drops a path and all below it. */
  forget(path: string): void {
    for (const entry of [path, ...this.entries.below(path)]) this.entries.delete(entry);
  }

  #makeAbove(path: string, mode: number): void {
    for (
      let above = dirname(path);
      above !== '/' && above !== '.' && !this.entries.has(above);
      above = dirname(above)
    ) {
      this.entries.set(above, { mode });
    }
  }
}

export const asText = (content: string | Uint8Array): string =>
  typeof content === 'string' ? content : Buffer.from(content).toString('utf8');
