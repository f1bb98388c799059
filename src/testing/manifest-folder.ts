import { basename, dirname } from 'node:path';
import { TubeletError } from '../base/errors.ts';
import type { FileInfo } from '../model/file-facts.ts';
import type { Files, OnPathChange } from '../pods/sources/ports.ts';

/** A folder /m in memory as the file source sees it, with faults to order and counts of what was asked. */
export class ManifestFolder implements Files {
  readonly texts = new Map<string, string>();
  readonly broken = new Map<string, string>();
  readonly calls: string[] = [];
  readonly watchers = new Map<string, OnPathChange>();
  #version = 0;

  put(path: string, text: string): void {
    this.texts.set(path, text);
    this.#version++;
    this.emit(path);
  }

  remove(path: string): void {
    this.texts.delete(path);
    this.emit(path, 'entry');
  }

  emit(path: string, kind: 'entry' | 'content' = 'content'): void {
    this.watchers.get(dirname(path))?.(basename(path), kind);
  }

  async readdir(path: string): Promise<readonly string[]> {
    this.#enter('readdir', path);
    return [...this.texts.keys()].filter((file) => dirname(file) === path).map((file) => basename(file));
  }

  async stat(path: string): Promise<FileInfo> {
    this.#enter('stat', path);
    const text = this.texts.get(path);
    if (text === undefined && path !== '/m' && path !== '/') throw new TubeletError('notFound', path);
    const version = `${this.#version}:${text?.length}`;
    return { kind: text === undefined ? 'directory' : 'file', size: text?.length ?? 0, identity: path, version };
  }

  async readFile(path: string): Promise<Uint8Array> {
    this.#enter('read', path);
    return new TextEncoder().encode(this.texts.get(path) ?? '');
  }

  watch(path: string, onChange: OnPathChange): () => void {
    this.#enter('watch', path);
    this.watchers.set(path, onChange);
    return () => this.watchers.delete(path);
  }

  count(call: string): number {
    return this.calls.filter((one) => one === call).length;
  }

  #enter(verb: string, path: string): void {
    this.calls.push(`${verb} ${path}`);
    const fault = this.broken.get(`${verb} ${path}`);
    if (fault !== undefined) throw new TubeletError('internal', fault);
  }
}
