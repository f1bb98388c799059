import type { Component } from '../../base/component.ts';
import { TubeletError } from '../../base/errors.ts';
import type { Gauge, Metrics } from '../../base/metrics.ts';
import type { CgroupVersion } from '../../model/cgroup-values.ts';

/** What the configuration asks for that not every version can do. */
export interface CgroupVersionSettings {
  readonly cgroupVersion: CgroupVersion;
  /** failCgroupV1 */
  readonly failCgroupV1: boolean;
  /** singleProcessOOMKill; undefined where it is not set. */
  readonly singleProcessOomKill: boolean | undefined;
  /** memorySwap.swapBehavior */
  readonly swapBehavior: string;
}

interface CgroupVersionCheckDeps {
  readonly metrics: Metrics;
  readonly settings: CgroupVersionSettings;
}

/** Reports the version of the cgroup interface, and fails the start where it cannot do what is configured. */
export class CgroupVersionCheck implements Component {
  readonly name = 'cgroup-version';
  readonly #settings: CgroupVersionSettings;
  readonly #gauge: Gauge;

  constructor({ metrics, settings }: CgroupVersionCheckDeps) {
    this.#settings = settings;
    this.#gauge = metrics.gauge({
      name: 'kubelet_cgroup_version',
      help: 'Version of the cgroup interface that this machine uses.',
      stability: 'ALPHA',
    });
  }

  async start(): Promise<void> {
    this.#gauge.set(this.#settings.cgroupVersion);
    const problem = versionProblem(this.#settings);
    if (problem !== undefined) throw new TubeletError('unsupported', problem);
  }

  async stop(): Promise<void> {}
}

/** Pure. Version 1 still works, but some settings are for version 2 only, and one refuses version 1 altogether. */
export function versionProblem(settings: CgroupVersionSettings): string | undefined {
  if (settings.cgroupVersion === 2) return undefined;
  if (settings.failCgroupV1) {
    return 'kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is in maintenance mode';
  }
  if (settings.singleProcessOomKill === false) {
    return 'invalid configuration: singleProcessOOMKill must not be explicitly set to false when using cgroup v1';
  }
  if (settings.swapBehavior === 'LimitedSwap') {
    return 'swap feature is enabled and LimitedSwap but it is only supported with cgroupv2';
  }
  return undefined;
}
