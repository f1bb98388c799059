import { kindOf, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { qosCgroup, type CgroupName } from '../../model/cgroup-names.ts';
import type { CgroupValues } from '../../model/cgroup-values.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { QosClass } from '../../model/qos.ts';
import type { CgroupManager, CgroupPods } from './ports.ts';
import { podDemand, qosCgroupValues, type PodDemand, type QosSettings } from './qos-cgroup-values.ts';

interface QosTiersDeps {
  readonly log: Log;
  readonly manager: CgroupManager;
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
  /** The update under way; never rejects. */
  #running: Promise<void> = Promise.resolve();
  /** The one that begins after it. */
  #next: Promise<void> | undefined;

  constructor(deps: QosTiersDeps) {
    this.#deps = deps;
  }

  async make(): Promise<void> {
    for (const qos of tiers) await this.#makeTier(qos);
    await this.update();
  }

  /**
   * Keeps the values of an earlier process until all sources are ready. One update runs at a time, so that none overwrites
   * newer values; callers that come while it runs share the next.
   */
  update(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    const turn = this.#running.then(() => {
      this.#next = undefined;
      return this.#update();
    });
    this.#next = turn;
    this.#running = turn.catch(() => {});
    return turn;
  }

  async #makeTier(qos: QosClass): Promise<void> {
    const { manager } = this.#deps;
    const name = this.#name(qos);
    this.#inherited ||= manager.missing(name) === undefined;
    try {
      await manager.create(name, {});
    } catch (cause) {
      throw new TubeletError(kindOf(cause), `failed to create top level ${qos} QOS cgroup`, { cause });
    }
  }

  async #update(): Promise<void> {
    if (this.#inherited && !this.#deps.pods.complete()) return;
    const values = qosCgroupValues(
      this.#deps.pods.active().map((pod) => this.#demandOf(pod)),
      this.#deps.settings,
    );
    await this.#deps.manager.update(this.#name('Guaranteed'), values.Guaranteed);
    for (const qos of tiers) await this.#updateTier(this.#name(qos), values[qos]);
  }

  async #updateTier(name: CgroupName, values: CgroupValues): Promise<void> {
    const { manager, version, log } = this.#deps;
    // Version 2 kills processes to get below a new limit, so the limit stays above the usage.
    const first = version === 2 ? this.#aboveUsage(name, values) : values;
    try {
      await manager.update(name, first);
    } catch (error) {
      const second = this.#aboveUsage(name, values);
      if (second.memoryBytes === first.memoryBytes) throw error;
      log.debug(2, 'A tier of pods uses more memory than is left for it, limiting it to that', {
        cgroup: manager.pathOf(name),
      });
      await manager.update(name, second);
    }
  }

  /** A limit at the present usage stops growth; later updates lower it as pods free memory. */
  #aboveUsage(name: CgroupName, values: CgroupValues): CgroupValues {
    if (values.memoryBytes === undefined) return values;
    const usage = this.#deps.manager.memoryUsage(name);
    return usage > values.memoryBytes ? { ...values, memoryBytes: usage } : values;
  }

  #name(qos: QosClass): CgroupName {
    return qosCgroup(this.#deps.cgroupRoot, qos);
  }

  #demandOf(pod: DesiredPod): PodDemand {
    const known = this.#demands.get(pod);
    if (known !== undefined) return known;
    const demand = podDemand(pod);
    this.#demands.set(pod, demand);
    return demand;
  }
}
