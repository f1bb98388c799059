import type { Component } from '../../base/component.ts';
import { TubeletError } from '../../base/errors.ts';
import type { Gauge, Metrics } from '../../base/metrics.ts';

interface CgroupVersionCheckDeps {
  readonly metrics: Metrics;
  readonly version: 1 | 2;
  /** failCgroupV1 */
  readonly failCgroupV1: boolean;
}

/** Fails the start on version 1 with failCgroupV1: version 1 still works, and upstream has deprecated it. */
export class CgroupVersionCheck implements Component {
  readonly name = 'cgroup-version';
  readonly #deps: CgroupVersionCheckDeps;
  readonly #gauge: Gauge;

  constructor(deps: CgroupVersionCheckDeps) {
    this.#deps = deps;
    this.#gauge = deps.metrics.gauge({
      name: 'kubelet_cgroup_version',
      help: 'Version of the cgroup interface that this machine uses.',
      stability: 'ALPHA',
    });
  }

  async start(): Promise<void> {
    const { version, failCgroupV1 } = this.#deps;
    this.#gauge.set(version);
    if (version === 1 && failCgroupV1) {
      throw new TubeletError('unsupported', 'this machine uses cgroup v1, and failCgroupV1 is true; boot it with v2');
    }
  }

  async stop(): Promise<void> {}
}
