import { dirname } from 'node:path';
import { TubeletError } from '../base/errors.ts';
import type { BlockDevices } from '../volumes/csi/index.ts';
import type { CsiTargets } from './fake-csi-driver.ts';
import type { MemoryFiles } from './memory-files.ts';

/** Devices on a disk in memory: whatever file a driver makes counts as one. Every change asks the disk's `fault` first. */
export class MemoryBlockDevices implements BlockDevices {
  readonly held = new Set<string>();
  readonly #disk: MemoryFiles;

  constructor(disk: MemoryFiles) {
    this.#disk = disk;
  }

  async link(path: string, target: string): Promise<void> {
    this.#disk.fault('link', path);
    if (!this.#disk.has(dirname(path))) throw new TubeletError('notFound', `no such folder: ${dirname(path)}`);
    this.#disk.entries.set(path, { target, mode: 0o777 });
  }

  async unlink(path: string): Promise<void> {
    this.#disk.fault('unlink', path);
    const found = this.#disk.entries.get(path);
    if (found !== undefined && found.target === undefined) throw new TubeletError('conflict', `${path} is not a link`);
    this.#disk.entries.delete(path);
  }

  async hold(path: string): Promise<void> {
    if (this.#disk.entries.get(path)?.content === undefined) {
      throw new TubeletError('invalid', `${path} is not a block device`);
    }
    this.held.add(path);
  }

  async release(path: string): Promise<void> {
    this.held.delete(path);
  }

  async removePlaceholder(path: string): Promise<void> {
    this.#disk.fault('removePlaceholder', path);
    const content = this.#disk.entries.get(path)?.content;
    if (content !== undefined && content.length > 0) throw new TubeletError('conflict', `${path} is not an empty file`);
    this.#disk.entries.delete(path);
  }
}

/** What a driver makes where it publishes volumes, on a disk in memory. */
export function memoryTargets(disk: MemoryFiles): CsiTargets {
  return {
    async make(path, kind) {
      disk.entries.set(path, { mode: 0o640, ...(kind === 'file' && { content: '' }) });
    },
    async remove(path) {
      disk.entries.delete(path);
    },
  };
}
