import type { Log } from '../../base/log.ts';
import { cgroupSettings, type CgroupValues, type CgroupVersion } from '../../model/cgroup-values.ts';
import type { CgroupTree } from './ports.ts';

interface CgroupWriterDeps {
  readonly log: Log;
  readonly tree: Pick<CgroupTree, 'write' | 'read'>;
  readonly version: CgroupVersion;
  /** The controllers that can be used here. */
  readonly controllers: ReadonlySet<string>;
}

/** Writes values into the files of cgroups, in the format of this machine's version. */
export class CgroupWriter {
  readonly #deps: CgroupWriterDeps;
  readonly #reported = new Set<string>();

  constructor(deps: CgroupWriterDeps) {
    this.#deps = deps;
  }

  /** Logs once which controllers this kernel lacks, and writes the limits of the others. */
  write(path: string, values: CgroupValues): void {
    const { tree, version, controllers, log } = this.#deps;
    const settings = cgroupSettings(values, version);
    for (const { controller } of settings) {
      if (controllers.has(controller) || this.#reported.has(controller)) continue;
      this.#reported.add(controller);
      const message = 'The kernel offers no such cgroup controller, its limits are not set';
      // Few machines have huge pages, and pods may run on every CPU: many do without these controllers.
      if (controller === 'hugetlb' || controller === 'cpuset') log.debug(2, message, { controller });
      else log.warn(message, { controller });
    }
    tree.write(
      path,
      settings.filter(({ controller }) => controllers.has(controller)),
    );
  }

  /** Bytes in use now. */
  memoryUsage(path: string): bigint {
    const file = this.#deps.version === 1 ? 'memory.usage_in_bytes' : 'memory.current';
    return BigInt(this.#deps.tree.read(path, 'memory', file) ?? 0);
  }
}
