import { dirname } from 'node:path';
import { TubeletError } from '../base/errors.ts';

interface Entry {
  readonly content?: string;
  readonly mode: number;
}

/** A file tree in memory with the ports of pod directories and volumes, and failures on demand. */
export class MemoryFiles {
  readonly #entries = new Map<string, Entry>();
  /** Asked before every change; what it throws is what the caller gets. */
  fault: (operation: string, path: string) => void = () => {};

  async makeFolder(path: string, mode: number): Promise<void> {
    this.fault('makeFolder', path);
    for (let above = dirname(path); above !== '/' && !this.#entries.has(above); above = dirname(above)) {
      this.#entries.set(above, { mode });
    }
    this.#entries.set(path, { mode });
  }

  async writeFile(path: string, content: string, mode: number): Promise<void> {
    this.fault('writeFile', path);
    if (!this.#entries.has(dirname(path))) throw new TubeletError('notFound', `no such folder: ${dirname(path)}`);
    this.#entries.set(path, { content, mode });
  }

  /** What others write on this disk, a runtime its logs say: without faults, and with the folders above. */
  append(path: string, text: string): void {
    for (let above = dirname(path); above !== '/' && !this.#entries.has(above); above = dirname(above)) {
      this.#entries.set(above, { mode: 0o755 });
    }
    const { content = '', mode = 0o640 } = this.#entries.get(path) ?? {};
    this.#entries.set(path, { content: content + text, mode });
  }

  async readText(path: string): Promise<string> {
    const content = this.#entries.get(path)?.content;
    if (content === undefined) throw new TubeletError('notFound', `no such file: ${path}`);
    return content;
  }

  async list(path: string): Promise<readonly string[]> {
    const inside = `${path}/`;
    const names = [...this.#entries.keys()]
      .filter((entry) => entry.startsWith(inside))
      .map((entry) => entry.slice(inside.length));
    return [...new Set(names.map((name) => name.split('/')[0] ?? ''))];
  }

  async removeTree(path: string): Promise<void> {
    this.fault('removeTree', path);
    for (const entry of this.#entries.keys()) {
      if (entry === path || entry.startsWith(`${path}/`)) this.#entries.delete(entry);
    }
  }

  has(path: string): boolean {
    return this.#entries.has(path);
  }

  /** Every path below, with its mode in octal. */
  tree(below: string): string[] {
    return [...this.#entries]
      .filter(([path]) => path.startsWith(`${below}/`))
      .map(([path, { mode }]) => `${mode.toString(8)} ${path.slice(below.length + 1)}`)
      .toSorted();
  }
}
