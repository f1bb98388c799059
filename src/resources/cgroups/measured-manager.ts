import type { Clock } from '../../base/clock.ts';
import type { Histogram, Metrics } from '../../base/metrics.ts';
import type { CgroupName } from '../../model/cgroup-names.ts';
import type { CgroupValues } from '../../model/cgroup-values.ts';
import type { CgroupManager, TreeRemoval } from './ports.ts';

interface MeasuredManagerDeps {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly manager: CgroupManager;
}

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Measures how long a driver takes. */
export class MeasuredManager implements CgroupManager {
  readonly #deps: MeasuredManagerDeps;
  readonly #durations: Histogram<'operation_type'>;

  constructor(deps: MeasuredManagerDeps) {
    this.#deps = deps;
    this.#durations = deps.metrics.histogram({
      name: 'kubelet_cgroup_manager_duration_seconds',
      help: 'Time to make, change or remove a cgroup, in seconds.',
      stability: 'ALPHA',
      labels: ['operation_type'],
      buckets,
    });
  }

  pathOf(name: CgroupName): string {
    return this.#deps.manager.pathOf(name);
  }

  missing(name: CgroupName): string | undefined {
    return this.#deps.manager.missing(name);
  }

  create(name: CgroupName, values: CgroupValues): Promise<void> {
    return this.#measured('create', () => this.#deps.manager.create(name, values));
  }

  update(name: CgroupName, values: CgroupValues): Promise<void> {
    return this.#measured('update', () => this.#deps.manager.update(name, values));
  }

  destroy(name: CgroupName): Promise<TreeRemoval> {
    return this.#measured('destroy', () => this.#deps.manager.destroy(name));
  }

  children(name: CgroupName): readonly CgroupName[] {
    return this.#deps.manager.children(name);
  }

  memoryUsage(name: CgroupName): bigint {
    return this.#deps.manager.memoryUsage(name);
  }

  async #measured<T>(operation: 'create' | 'update' | 'destroy', work: () => Promise<T>): Promise<T> {
    const began = this.#deps.clock.monotonic();
    try {
      return await work();
    } finally {
      this.#durations.observe((this.#deps.clock.monotonic() - began) / 1_000, { operation_type: operation });
    }
  }
}
