import type { Clock } from '../base/clock.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Node } from '../gen/kubernetes/types.ts';
import { isReady } from './status/compute-report.ts';

/** When the agent began. */
export interface ProgramStart {
  /** How long the machine had been up by then; undefined where that is unknown. */
  readonly upSeconds: number | undefined;
  /** On the monotonic clock. */
  readonly startedAt: number;
}

interface NodeStartupDeps extends ProgramStart {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly metrics: Metrics;
}

/**
 * Measures how a machine becomes a node, once: for an existing node it measures nothing.
 *
 *   boot ──pre kubelet──> started ──pre registration──> attempted ──registration──> registered ──post──> ready
 */
export class NodeStartup {
  readonly #deps: NodeStartupDeps;
  readonly #set: Readonly<Record<Stage, (seconds: number) => void>>;
  #attemptedAt: number | undefined;
  #registeredAt: number | undefined;
  #isReady = false;

  constructor(deps: NodeStartupDeps) {
    this.#deps = deps;
    this.#set = gauges(deps.metrics);
  }

  /** The API server is about to be asked for a new node. */
  attempted(): void {
    this.#attemptedAt ??= this.#deps.clock.monotonic();
  }

  /** The API server has created the node. */
  registered(): void {
    const { clock, upSeconds, startedAt } = this.#deps;
    if (this.#attemptedAt === undefined || this.#registeredAt !== undefined) return;
    this.#registeredAt = clock.monotonic();
    if (upSeconds !== undefined) this.#set.preKubelet(upSeconds);
    this.#set.preRegistration((this.#attemptedAt - startedAt) / 1_000);
    this.#set.registration((this.#registeredAt - this.#attemptedAt) / 1_000);
  }

  /** The API server has this node. */
  reported(node: Node): void {
    const { clock, upSeconds, startedAt } = this.#deps;
    if (this.#registeredAt === undefined || this.#isReady || !isReady(node)) return;
    this.#isReady = true;
    const now = clock.monotonic();
    this.#set.postRegistration((now - this.#registeredAt) / 1_000);
    if (upSeconds !== undefined) this.#set.whole(upSeconds + (now - startedAt) / 1_000);
  }
}

type Stage = 'preKubelet' | 'preRegistration' | 'registration' | 'postRegistration' | 'whole';

function gauges(metrics: Metrics): Readonly<Record<Stage, (seconds: number) => void>> {
  const gauge = (part: string, help: string): ((seconds: number) => void) => {
    const made = metrics.gauge({ name: `kubelet_node_startup_${part}duration_seconds`, help, stability: 'ALPHA' });
    return (seconds) => made.set(seconds);
  };
  return {
    preKubelet: gauge('pre_kubelet_', 'Seconds from the start of the machine to that of the agent.'),
    preRegistration: gauge('pre_registration_', 'Seconds from the start of the agent to its asking for a node.'),
    registration: gauge('registration_', 'Seconds from asking for a node to there being one.'),
    postRegistration: gauge('post_registration_', 'Seconds from there being a node to its being ready.'),
    whole: gauge('', 'Seconds from the start of the machine to its node being ready.'),
  };
}
