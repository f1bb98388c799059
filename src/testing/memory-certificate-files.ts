import type { AccessFiles } from '../apiserver/credentials/access-files.ts';
import type { CertificateFiles } from '../apiserver/identity/ports.ts';
import { TubeletError } from '../base/errors.ts';

interface MemoryFile {
  readonly text: string;
  readonly mode: number;
  readonly stamp: number;
}

/** Files and links of keys and certificates, in memory. Changes can be made to fail, as if the power had gone. */
export class MemoryCertificateFiles implements CertificateFiles, AccessFiles {
  readonly files = new Map<string, MemoryFile>();
  readonly links = new Map<string, string>();
  /** What changed, in order. */
  readonly changes: string[] = [];
  /** How many more changes succeed. */
  changesLeft = Number.POSITIVE_INFINITY;
  #stamp = 0;

  async readText(path: string): Promise<string> {
    return this.#file(path).text;
  }

  async stampOf(path: string): Promise<string> {
    return String(this.#file(path).stamp);
  }

  async replace(path: string, text: string, mode: number): Promise<void> {
    this.#change(`replace ${path}`);
    this.put(path, text, mode);
  }

  async link(target: string, path: string): Promise<void> {
    this.#change(`link ${path}`);
    this.files.delete(path);
    this.links.set(path, target);
  }

  async putAside(path: string): Promise<string> {
    this.#change(`put aside ${path}`);
    const real = this.links.get(path) ?? path;
    const aside = `${real}.damaged`;
    this.files.set(aside, this.#file(real));
    this.files.delete(real);
    return aside;
  }

  async remove(path: string): Promise<void> {
    this.#change(`remove ${path}`);
    this.files.delete(path);
  }

  async makeFolder(): Promise<void> {}

  /** Without a trace in `changes`. */
  put(path: string, text: string, mode = 0o644): void {
    this.files.set(path, { text, mode, stamp: ++this.#stamp });
  }

  #file(path: string): MemoryFile {
    const file = this.files.get(this.links.get(path) ?? path);
    if (file === undefined) throw new TubeletError('notFound', `no such file: ${path}`);
    return file;
  }

  #change(what: string): void {
    if (this.changesLeft <= 0) throw new TubeletError('internal', 'the power has gone');
    this.changesLeft--;
    this.changes.push(what);
  }
}
