import { missingText } from '../../model/cgroup-missing.ts';
import { cgroupPath, type CgroupName } from '../../model/cgroup-names.ts';
import type { CgroupValues } from '../../model/cgroup-values.ts';
import type { CgroupWriter } from './cgroup-writer.ts';
import type { CgroupManager, CgroupTree, TreeRemoval } from './ports.ts';

interface CgroupfsManagerDeps {
  readonly tree: CgroupTree;
  readonly writer: CgroupWriter;
}

/** The driver `cgroupfs`: the agent makes directories and writes files by itself. */
export class CgroupfsManager implements CgroupManager {
  readonly #deps: CgroupfsManagerDeps;

  constructor(deps: CgroupfsManagerDeps) {
    this.#deps = deps;
  }

  pathOf(name: CgroupName): string {
    return cgroupPath(name, 'cgroupfs');
  }

  missing(name: CgroupName): string | undefined {
    const missing = this.#deps.tree.missing(this.pathOf(name));
    return missing && missingText(name, missing);
  }

  async create(name: CgroupName, values: CgroupValues): Promise<void> {
    this.#deps.tree.make(this.pathOf(name));
    await this.update(name, values);
  }

  async update(name: CgroupName, values: CgroupValues): Promise<void> {
    this.#deps.writer.write(this.pathOf(name), values);
  }

  async destroy(name: CgroupName): Promise<TreeRemoval> {
    return this.#deps.tree.remove(this.pathOf(name));
  }

  children(name: CgroupName): readonly CgroupName[] {
    return this.#deps.tree.children(this.pathOf(name)).map((child) => [...name, child]);
  }

  memoryUsage(name: CgroupName): bigint {
    return this.#deps.writer.memoryUsage(this.pathOf(name));
  }
}
