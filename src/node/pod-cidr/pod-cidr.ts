import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { KeyedWork, type WorkWatch } from '../../base/keyed-work.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Node } from '../../gen/kubernetes/types.ts';
import type { RuntimeNetwork } from '../ports.ts';

interface PodCidrDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly runtime: RuntimeNetwork;
  /** The node as the API server has it; undefined without one, or as long as it is not known. */
  readonly node: () => Node | undefined;
  /** Of the configuration, for an agent without an API server. */
  readonly configured: string;
  readonly watch: WorkWatch | undefined;
}

const backoff = { initialMs: 1_000, maxMs: 10_000 };

/** Tells the runtime which addresses pods get, when the control plane has said so or changed it. */
export class PodCidr implements Component {
  readonly name = 'pod-cidr';
  readonly #deps: PodCidrDeps;
  readonly #work: KeyedWork<'pod-cidr'>;
  /** What the runtime was told last. */
  #told = '';

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
    this.look();
  }

  async stop(): Promise<void> {
    await this.#work.stop();
  }

  /** The node may have changed. */
  look(): void {
    if (this.#wanted() !== this.#told) this.#work.wake('pod-cidr');
  }

  /** Empty: nobody has said anything, and what the runtime does by itself goes on. */
  #wanted(): string {
    return podCidrOf(this.#deps.node()) || this.#deps.configured || this.#told;
  }

  async #apply(signal: AbortSignal): Promise<void> {
    const { runtime, log } = this.#deps;
    const podCidr = this.#wanted();
    if (podCidr === this.#told) return;
    await runtime.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr } } }, { signal });
    log.info('Updating Pod CIDR', { originalPodCIDR: this.#told, newPodCIDR: podCidr });
    this.#told = podCidr;
  }
}

function podCidrOf(node: Node | undefined): string {
  return node?.spec?.podCIDRs?.join(',') ?? '';
}
