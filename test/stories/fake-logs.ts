import { TubeletError } from '../../src/base/errors.ts';
import { parseLogLine, type LinkFiles, type LogFiles, type LogWatch } from '../../src/pods/logs/index.ts';
import type { TerminationMessageFiles } from '../../src/pods/runtime/index.ts';
import type { FakeLogSink } from '../../src/testing/fake-cri/index.ts';
import type { MemoryFiles } from '../../src/testing/memory-files.ts';

/** The logs of fake containers on a disk in memory. A compressed file keeps its text: only its name tells. */
export class FakeLogs implements FakeLogSink, LogFiles, LogWatch, LinkFiles, TerminationMessageFiles {
  readonly #files: MemoryFiles;
  readonly #watches = new Map<string, Set<() => void>>();

  constructor(files: MemoryFiles) {
    this.#files = files;
  }

  append(path: string, text: string): void {
    this.#files.append(path, text);
    this.#tell(path);
  }

  async size(path: string): Promise<number | undefined> {
    return this.#files.has(path) ? Buffer.byteLength(await this.#files.readText(path)) : undefined;
  }

  list(folder: string, beginning: string): Promise<readonly string[]> {
    return this.#files.list(folder, (name) => name.startsWith(beginning));
  }

  async *names(folder: string): AsyncGenerator<string> {
    yield* await this.#files.list(folder);
  }

  removeLink(path: string): Promise<void> {
    return this.remove(path);
  }

  async rename(from: string, to: string): Promise<void> {
    const text = await this.#files.readText(from);
    await this.#files.removeTree(from);
    await this.#files.removeTree(to);
    this.#files.append(to, text);
    this.#tell(from);
  }

  async renameBack(from: string, to: string): Promise<void> {
    if (this.#files.has(to)) throw new TubeletError('alreadyExists', `there is something at ${to}`);
    await this.rename(from, to);
  }

  async remove(path: string): Promise<void> {
    await this.#files.removeTree(path);
    this.#tell(path);
  }

  async compress(from: string, to: string): Promise<void> {
    this.#files.append(to, await this.#files.readText(from));
  }

  watch(path: string, onChange: () => void): () => void {
    if (!this.#files.has(path)) throw new TubeletError('notFound', `no such file: ${path}`);
    const watches = this.#watches.get(path) ?? new Set();
    this.#watches.set(path, watches.add(onChange));
    return () => void watches.delete(onChange);
  }

  makeFolder(path: string, mode: number): Promise<void> {
    return this.#files.makeFolder(path, mode);
  }

  async readLink(path: string): Promise<string | undefined> {
    return this.#files.entries.get(path)?.target;
  }

  async exists(path: string): Promise<boolean> {
    return this.#files.has((await this.readLink(path)) ?? path);
  }

  async link(path: string, target: string): Promise<void> {
    if (this.#files.has(path)) throw new TubeletError('alreadyExists', `there is something at ${path}`);
    this.#files.entries.set(path, { target, mode: 0o777 });
  }

  async readEnd(path: string, bytes: number): Promise<string> {
    return (await this.#files.readText(path)).slice(-bytes);
  }

  async readLogTail(path: string, limits: { readonly lines: number }): Promise<string> {
    const lines = (await this.#files.readText(path)).split('\n').slice(0, -1).slice(-limits.lines);
    return lines.map((line) => `${parseLogLine(Buffer.from(line))?.content.toString()}\n`).join('');
  }

  #tell(path: string): void {
    for (const onChange of this.#watches.get(path) ?? []) onChange();
  }
}
