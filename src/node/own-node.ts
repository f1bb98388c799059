import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Node } from '../gen/kubernetes/types.ts';
import { computeInitialNode } from './register/compute-initial-node.ts';
import type { NodeSettings } from './settings.ts';
import { computeNodeStatus, type ComputedNode } from './status/compute-node-status.ts';
import { InputGatherer, type NodeSources } from './status/gather-inputs.ts';

interface OwnNodeDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: NodeSettings;
  readonly sources: NodeSources;
}

/** The node as this machine sees itself: gathers the inputs, then computes it. */
export class OwnNode {
  readonly #deps: OwnNodeDeps;
  readonly #inputs: InputGatherer;
  /** The problems that were logged last; the same ones are not logged again in every round. */
  #problems = '';

  constructor(deps: OwnNodeDeps) {
    this.#deps = deps;
    this.#inputs = new InputGatherer(deps);
  }

  get settings(): NodeSettings {
    return this.#deps.settings;
  }

  /** The node to register now. */
  initial(): Promise<ComputedNode> {
    return this.#compute(computeInitialNode(this.#deps.settings), false);
  }

  /** The node to report, from what the API server knows. */
  update(known: Node, wasUnschedulable: boolean): Promise<ComputedNode> {
    return this.#compute(withPlatformLabels(known, this.#deps.settings), wasUnschedulable);
  }

  async #compute(previous: Node, wasUnschedulable: boolean): Promise<ComputedNode> {
    const { clock, log } = this.#deps;
    const inputs = await this.#inputs.gather(wasUnschedulable);
    const computed = computeNodeStatus(previous, inputs, clock.now());
    const problems = computed.problems.join('; ');
    if (problems !== '' && problems !== this.#problems)
      log.warn('Failed to set some node status fields', { err: problems });
    this.#problems = problems;
    return computed;
  }
}

/** Schedulers use these two labels, so they are restored if they were removed. */
function withPlatformLabels(node: Node, { operatingSystem, architecture }: NodeSettings): Node {
  const labels = { 'kubernetes.io/os': operatingSystem, 'kubernetes.io/arch': architecture };
  return { ...node, metadata: { ...node.metadata, labels: { ...node.metadata?.labels, ...labels } } };
}
