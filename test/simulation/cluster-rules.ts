import type { PodUid } from '../../src/base/ids.ts';
import type { Pod, PodStatus } from '../../src/gen/kubernetes/types.ts';
import { isTerminalPhase } from '../../src/model/reasons.ts';
import type { Ledger } from './ledger.ts';
import type { SimNode } from './node.ts';
import type { PodPlan } from './pod-plans.ts';
import type { Complain } from './runtime-rules.ts';

/** Rules about what the agent reports to the API server: statuses go forward, and no pod that runs is reported as removed. */
export class ClusterRules {
  readonly #node: SimNode;
  readonly #ledger: Ledger;
  readonly #complain: Complain;
  readonly #reported = new Map<PodUid, PodStatus>();
  /** As the API server shows them, for the trail. */
  readonly #phases = new Map<string, string>();
  #version = 0;

  constructor(node: SimNode, ledger: Ledger, complain: Complain) {
    this.#node = node;
    this.#ledger = ledger;
    this.#complain = complain;
  }

  look(): void {
    const { cluster, manifests, trail } = this.#node;
    const { version } = cluster.server;
    if (version === this.#version) return;
    this.#version = version;
    for (const { metadata, status } of cluster.pods()) {
      const [name = '', phase = ''] = [metadata?.name, status?.phase];
      if (this.#phases.get(name) !== phase) trail.note(`== ${name} is ${phase}`);
      this.#phases.set(name, phase);
    }
    for (const plan of manifests.values()) {
      if (plan.pod.source !== 'api') continue;
      const pod = cluster.pod(plan.name);
      if (pod?.metadata?.uid === plan.uid) this.#forward(plan, pod);
      else this.#gone(plan);
    }
  }

  /** The agent has let the API server remove a pod that somebody had deleted. */
  #gone(plan: PodPlan): void {
    const { manifests, trail } = this.#node;
    trail.note(`** gone ${plan.uid}`);
    const running = this.#node.containersOf(plan.uid).find(({ state }) => state === 'running');
    const deletion = this.#node.cluster.deletionOf(plan.uid);
    // Who gives no grace does not wait either.
    if (running !== undefined && deletion?.graceSeconds !== 0 && !this.#node.troubles.isLate()) {
      this.#complain(`${plan.uid} is removed from the API server while ${running.name} runs`);
    }
    if (deletion === undefined) {
      this.#complain(`${plan.uid} is removed from the API server although nobody has deleted it`);
    }
    manifests.delete(plan.slot);
    this.#ledger.manifestRemoved(plan.uid);
  }

  #forward({ uid }: PodPlan, { status = {} }: Pod): void {
    const before = this.#reported.get(uid) ?? {};
    this.#reported.set(uid, status);
    if (isTerminalPhase(before.phase) && status.phase !== before.phase) {
      this.#complain(`${uid} was reported as ${before.phase}, and then ${status.phase}`);
    }
    if (before.startTime !== undefined && status.startTime !== before.startTime) {
      this.#complain(`${uid} was reported as started at ${before.startTime}, and then at ${status.startTime}`);
    }
    if (this.#node.tampered.has(uid)) return;
    const counts = new Map(before.containerStatuses?.map(({ name, restartCount }) => [name, restartCount]));
    for (const { name, restartCount } of status.containerStatuses ?? []) {
      const known = counts.get(name) ?? 0;
      if (restartCount < known) {
        this.#complain(`${known} restarts of ${uid} ${name} were reported, and then ${restartCount}`);
      }
    }
  }
}
