import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { KeyedWork, type WorkQueueMetrics } from '../../base/keyed-work.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Node } from '../../gen/kubernetes/types.ts';
import type { RuntimeNetwork } from '../ports.ts';

interface PodCidrDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly runtime: RuntimeNetwork;
  /** The node as the API server has it; undefined without one, or as long as it is unknown. */
  readonly node: () => Node | undefined;
  /** From the configuration, for an agent without an API server. */
  readonly configured: string;
  readonly watch: WorkQueueMetrics | undefined;
}

const backoff = { initialMs: 1_000, maxMs: 10_000 };

/** Passes the addresses for pods to the runtime, when the control plane has set or changed them. */
export class PodCidr implements Component {
  readonly name = 'pod-cidr';
  readonly #deps: PodCidrDeps;
  readonly #work: KeyedWork<'pod-cidr'>;
  /** The range that was passed to the runtime last. */
  #applied = '';

  constructor(deps: PodCidrDeps) {
    this.#deps = deps;
    const { clock, random, log } = deps;
    this.#work = new KeyedWork({
      name: this.name,
      clock,
      random,
      parallel: 1,
      backoff,
      watch: deps.watch,
      work: (_, signal) => this.#apply(signal),
      onError: (_, error, retryMs) => log.error(error, 'Error updating pod CIDR', { retryMs }),
    });
  }

  async start(): Promise<void> {
    await this.#work.start();
    this.reconcile();
  }

  async stop(): Promise<void> {
    await this.#work.stop();
  }

  /** The node may have changed. */
  reconcile(): void {
    if (this.#wanted() !== this.#applied) this.#work.wake('pod-cidr');
  }

  /** Empty: no range is set, and the runtime keeps its own. */
  #wanted(): string {
    return podCidrOf(this.#deps.node()) || this.#deps.configured || this.#applied;
  }

  async #apply(signal: AbortSignal): Promise<void> {
    const { runtime, log } = this.#deps;
    const podCidr = this.#wanted();
    if (podCidr === this.#applied) return;
    await runtime.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr } } }, { signal });
    log.info('Updating Pod CIDR', { originalPodCIDR: this.#applied, newPodCIDR: podCidr });
    this.#applied = podCidr;
  }
}

function podCidrOf(node: Node | undefined): string {
  return node?.spec?.podCIDRs?.join(',') ?? '';
}
