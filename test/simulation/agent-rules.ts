import type { PodUid } from '../../src/base/ids.ts';
import { TubeletError } from '../../src/base/errors.ts';
import type { PodStatus } from '../../src/gen/kubernetes/types.ts';
import { isTerminalPhase } from '../../src/model/reasons.ts';
import type { Ledger } from './ledger.ts';
import type { SimNode } from './node.ts';
import type { Complain } from './runtime-rules.ts';

const phaseOrder = ['waiting', 'syncing', 'terminating', 'terminated', 'finished'] as const;

/** What was last seen of a pod in the agent's mind, within one life of the agent and of the manifest. */
interface Seen {
  readonly life: string;
  readonly worker: number;
  readonly version: number;
  readonly phase: string | undefined;
}

/** Rules about what the agent thinks: lifecycles and statuses only go forward. */
export class AgentRules {
  readonly #node: SimNode;
  readonly #ledger: Ledger;
  readonly #complain: Complain;
  readonly #seen = new Map<PodUid, Seen>();
  /** Highest restart count told, by life of the manifest: it outlives the agent. */
  readonly #restarts = new Map<string, number>();
  #logged = 0;

  constructor(node: SimNode, ledger: Ledger, complain: Complain) {
    this.#node = node;
    this.#ledger = ledger;
    this.#complain = complain;
  }

  look(): void {
    this.#log();
    const { machine, lives } = this.#node.agent;
    if (machine === undefined) return;
    for (const uid of this.#node.plans.keys()) {
      const worker = machine.workers.stateOf(uid);
      const status = machine.statuses.get(uid);
      const now: Seen = {
        life: `${lives}.${this.#ledger.lifeOf(uid)}`,
        worker: worker === undefined ? -1 : phaseOrder.indexOf(worker.phase),
        version: machine.statuses.versionOf(uid),
        phase: status?.phase,
      };
      const before = this.#seen.get(uid);
      if (before?.life === now.life) this.#forward(uid, before, now);
      this.#seen.set(uid, now);
      if (status !== undefined) this.#restartCounts(uid, status);
    }
  }

  #forward(uid: PodUid, before: Seen, now: Seen): void {
    const wanted = this.#node.isDesired(uid);
    const name = (index: number): string => phaseOrder[index] ?? 'forgotten';
    // A pod that came back under its uid begins anew once the old life is finished: that is the only way back, and
    // it starts with a removal, which makes another life of the manifest. Here only what is over may be forgotten.
    const begunAnew = before.worker > now.worker && now.worker >= 0;
    if (begunAnew && !this.#cameBack(uid)) this.#complain(`the worker of ${uid} went back from ${name(before.worker)} to ${name(now.worker)}`);
    if (before.worker >= 0 && now.worker < 0 && wanted) this.#complain(`the worker of ${uid} is forgotten while its manifest is there`);
    if (wanted && now.version < before.version && !this.#cameBack(uid)) {
      this.#complain(`the status version of ${uid} went back from ${before.version} to ${now.version}`);
    }
    if (isTerminalPhase(before.phase) && wanted && now.phase !== before.phase && !this.#cameBack(uid)) {
      this.#complain(`the phase of ${uid} went from ${before.phase} to ${now.phase}`);
    }
  }

  #cameBack(uid: PodUid): boolean {
    return this.#ledger.lifeOf(uid) > 1;
  }

  #restartCounts(uid: PodUid, status: PodStatus): void {
    if (!this.#node.isDesired(uid) || this.#cameBack(uid)) return;
    for (const { name, restartCount } of [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])]) {
      const key = `${uid} ${name}`;
      const before = this.#restarts.get(key) ?? 0;
      if (restartCount < before) this.#complain(`the restart count of ${key} went from ${before} to ${restartCount}`);
      this.#restarts.set(key, restartCount);
    }
  }

  /** Trouble in the world comes as a TubeletError; anything else is a mistake in the agent. */
  #log(): void {
    const { entries } = this.#node.agent.log;
    for (; this.#logged < entries.length; this.#logged++) {
      const entry = entries[this.#logged];
      if (entry?.error === undefined || entry.error instanceof TubeletError) continue;
      const stack = entry.error instanceof Error ? entry.error.stack : String(entry.error);
      this.#complain(`the agent logs an error that the world did not cause: ${entry.message}: ${stack}`);
    }
  }
}
