import { read } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { TubeletError } from '../base/errors.ts';
import { mappedError } from './files.ts';

/**
 * A file with many repeated readers. Node's promise for a read costs several times as much as the read, so the callback
 * API is used; and because a closed descriptor's number may be reused at once, closing waits for reads.
 */
export class HostOpenLog {
  readonly identity: string;
  readonly #file: FileHandle;
  #reads = 0;
  #closing: Promise<void> | undefined;
  #onLastRead: (() => void) | undefined;

  constructor(file: FileHandle, identity: string) {
    this.#file = file;
    this.identity = identity;
  }

  async size(): Promise<number> {
    try {
      return (await this.#file.stat()).size;
    } catch (error) {
      throw mappedError(error);
    }
  }

  read(buffer: Buffer, position: number, length: number): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#closing !== undefined) {
        reject(new TubeletError('cancelled', 'the file has been closed'));
        return;
      }
      this.#reads++;
      read(this.#file.fd, buffer, 0, length, position, (error, bytes) => {
        if (--this.#reads === 0) this.#onLastRead?.();
        if (error === null) resolve(bytes);
        else reject(mappedError(error));
      });
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#reads > 0) await new Promise<void>((resolve) => (this.#onLastRead = resolve));
    await this.#file.close();
  }
}
