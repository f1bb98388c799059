import type { Log } from '../../base/log.ts';
import { cgroupPath, qosCgroup } from '../../model/cgroup-names.ts';
import type { CgroupValues } from '../../model/cgroup-values.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { QosClass } from '../../model/qos.ts';
import type { CgroupWriter } from './cgroup-writer.ts';
import type { CgroupPods } from './ports.ts';
import { podDemand, qosCgroupValues, type PodDemand, type QosSettings } from './qos-cgroup-values.ts';

interface QosTiersDeps {
  readonly log: Log;
  readonly writer: CgroupWriter;
  readonly pods: Pick<CgroupPods, 'active' | 'complete'>;
  readonly settings: QosSettings;
  readonly cgroupRoot: string;
  readonly version: 1 | 2;
}

const tiers: readonly QosClass[] = ['Burstable', 'BestEffort'];

/** The cgroups between all pods and one pod. Their values follow the requests of the active pods. */
export class QosTiers {
  readonly #deps: QosTiersDeps;
  /** Pods are frozen, so that the demand of each is computed once. */
  readonly #demands = new WeakMap<DesiredPod, PodDemand>();

  /** The tiers were there before: they may hold pods of an earlier process that no source has named yet. */
  #inherited = false;

  constructor(deps: QosTiersDeps) {
    this.#deps = deps;
  }

  make(): void {
    const { writer } = this.#deps;
    for (const qos of tiers) {
      this.#inherited ||= writer.presence(this.#path(qos)) !== 'none';
      writer.create(this.#path(qos), {});
    }
    this.update();
  }

  /** Keeps the values of an earlier process until all sources are ready. */
  update(): void {
    if (this.#inherited && !this.#deps.pods.complete()) return;
    const values = qosCgroupValues(
      this.#deps.pods.active().map((pod) => this.#demandOf(pod)),
      this.#deps.settings,
    );
    this.#deps.writer.update(this.#path('Guaranteed'), values.Guaranteed);
    for (const qos of tiers) this.#updateTier(this.#path(qos), values[qos]);
  }

  #updateTier(path: string, values: CgroupValues): void {
    const { writer, version, log } = this.#deps;
    // Version 2 kills processes to get below a new limit, so the limit stays above the usage.
    const first = version === 2 ? this.#aboveUsage(path, values) : values;
    try {
      writer.update(path, first);
    } catch (error) {
      const second = this.#aboveUsage(path, values);
      if (second.memoryBytes === first.memoryBytes) throw error;
      log.debug(2, 'A tier of pods uses more memory than is left for it, limiting it to that', { cgroup: path });
      writer.update(path, second);
    }
  }

  /** A limit at the present usage stops growth; later updates lower it as pods free memory. */
  #aboveUsage(path: string, values: CgroupValues): CgroupValues {
    if (values.memoryBytes === undefined) return values;
    const usage = this.#deps.writer.memoryUsage(path);
    return usage > values.memoryBytes ? { ...values, memoryBytes: usage } : values;
  }

  #path(qos: QosClass): string {
    return cgroupPath(qosCgroup(this.#deps.cgroupRoot, qos), 'cgroupfs');
  }

  #demandOf(pod: DesiredPod): PodDemand {
    const known = this.#demands.get(pod);
    if (known !== undefined) return known;
    const demand = podDemand(pod);
    this.#demands.set(pod, demand);
    return demand;
  }
}
