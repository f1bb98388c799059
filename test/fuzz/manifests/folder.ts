import { basename, dirname } from 'node:path';
import { TubeletError } from '../../../src/base/errors.ts';
import type { FileInfo } from '../../../src/model/file-facts.ts';
import type { Files, OnPathChange } from '../../../src/pods/sources/ports.ts';
import type { ManifestFile } from './case.ts';

export const manifestFolder = '/m';

/** A folder of bytes as the file source sees it, and a record of the paths that were asked for. */
export class FuzzFolder implements Files {
  readonly asked = new Set<string>();
  readonly #files = new Map<string, { readonly bytes: Buffer; readonly version: number }>();
  #onChange: OnPathChange = () => {};
  #version = 0;

  put(files: readonly ManifestFile[]): void {
    for (const { name, bytes } of files) {
      this.#files.set(`${manifestFolder}/${name}`, { bytes, version: ++this.#version });
      this.#onChange(name, 'entry');
    }
  }

  remove(files: readonly ManifestFile[]): void {
    for (const { name } of files) {
      this.#files.delete(`${manifestFolder}/${name}`);
      this.#onChange(name, 'entry');
    }
  }

  async readdir(path: string): Promise<readonly string[]> {
    this.asked.add(path);
    return [...this.#files.keys()].filter((file) => dirname(file) === path).map((file) => basename(file));
  }

  async stat(path: string): Promise<FileInfo> {
    this.asked.add(path);
    if (path === manifestFolder || path === '/') return { kind: 'directory', size: 0, identity: path, version: '1' };
    const { bytes, version } = this.#found(path);
    return { kind: 'file', size: bytes.length, identity: path, version: `${version}` };
  }

  async readFile(path: string): Promise<Uint8Array> {
    this.asked.add(path);
    return this.#found(path).bytes;
  }

  watch(path: string, onChange: OnPathChange): () => void {
    if (path === manifestFolder) this.#onChange = onChange;
    return () => {
      if (path === manifestFolder) this.#onChange = () => {};
    };
  }

  #found(path: string): { readonly bytes: Buffer; readonly version: number } {
    const found = this.#files.get(path);
    if (found === undefined) throw new TubeletError('notFound', `no such file: ${path}`);
    return found;
  }
}
