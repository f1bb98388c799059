import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Histogram, Metrics } from '../../base/metrics.ts';
import { cgroupSettings, type CgroupValues, type CgroupVersion } from '../../model/cgroup-values.ts';
import type { CgroupTree, TreeRemoval } from './ports.ts';

interface CgroupWriterDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly tree: CgroupTree;
  readonly version: CgroupVersion;
  /** The controllers that can be used here. */
  readonly controllers: ReadonlySet<string>;
  readonly metrics: Metrics;
}

type CgroupOperation = 'create' | 'update' | 'destroy';

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Writes values to cgroups in the format of this machine's version, and measures how long it takes. */
export class CgroupWriter {
  readonly #deps: CgroupWriterDeps;
  readonly #durations: Histogram<'operation_type'>;
  readonly #reported = new Set<string>();

  constructor(deps: CgroupWriterDeps) {
    this.#deps = deps;
    this.#durations = deps.metrics.histogram({
      name: 'kubelet_cgroup_manager_duration_seconds',
      help: 'Time to make, change or remove a cgroup, in seconds.',
      stability: 'ALPHA',
      labels: ['operation_type'],
      buckets,
    });
  }

  presence(path: string): 'whole' | 'partly' | 'none' {
    return this.#deps.tree.presence(path);
  }

  children(path: string): readonly string[] {
    return this.#deps.tree.children(path);
  }

  create(path: string, values: CgroupValues): void {
    this.#measured('create', () => {
      this.#deps.tree.make(path);
      this.#write(path, values);
    });
  }

  update(path: string, values: CgroupValues): void {
    this.#measured('update', () => this.#write(path, values));
  }

  /** Bytes in use now. */
  memoryUsage(path: string): bigint {
    const file = this.#deps.version === 1 ? 'memory.usage_in_bytes' : 'memory.current';
    return BigInt(this.#deps.tree.read(path, 'memory', file) ?? 0);
  }

  async destroy(path: string): Promise<TreeRemoval> {
    const began = this.#deps.clock.monotonic();
    try {
      return await this.#deps.tree.remove(path);
    } finally {
      this.#observe('destroy', began);
    }
  }

  /** Logs once which controllers this kernel lacks, and writes the limits of the others. */
  #write(path: string, values: CgroupValues): void {
    const { tree, version, controllers, log } = this.#deps;
    const settings = cgroupSettings(values, version);
    for (const { controller } of settings) {
      if (controllers.has(controller) || this.#reported.has(controller)) continue;
      this.#reported.add(controller);
      const message = 'The kernel offers no such cgroup controller, its limits are not set';
      // Few machines have huge pages, and many do without the controller.
      if (controller === 'hugetlb') log.debug(2, message, { controller });
      else log.warn(message, { controller });
    }
    tree.write(
      path,
      settings.filter(({ controller }) => controllers.has(controller)),
    );
  }

  #measured(operation: CgroupOperation, work: () => void): void {
    const began = this.#deps.clock.monotonic();
    try {
      work();
    } finally {
      this.#observe(operation, began);
    }
  }

  #observe(operation: CgroupOperation, began: number): void {
    this.#durations.observe((this.#deps.clock.monotonic() - began) / 1_000, { operation_type: operation });
  }
}
