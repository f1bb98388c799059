import type { PodUid } from '../../src/base/ids.ts';
import { messageOf, TubeletError } from '../../src/base/errors.ts';
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
  /** The worker cares for this life of the manifest, not for the end of one before it. */
  readonly settled: boolean;
}

/** Rules about what the agent thinks: lifecycles and statuses only go forward. */
export class AgentRules {
  readonly #node: SimNode;
  readonly #ledger: Ledger;
  readonly #complain: Complain;
  readonly #seen = new Map<PodUid, Seen>();
  /** Highest restart count reported, by life of the manifest: it outlives the agent. */
  readonly #restarts = new Map<string, number>();
  #logged = 0;

  constructor(node: SimNode, ledger: Ledger, complain: Complain) {
    this.#node = node;
    this.#ledger = ledger;
    this.#complain = complain;
  }

  look(): void {
    this.#log();
    const { stores, lives } = this.#node.agent;
    if (stores === undefined) return;
    for (const uid of this.#node.plans.keys()) {
      const worker = stores.lifecycles.stateOf(uid);
      const status = stores.statuses.get(uid);
      const life = `${lives}.${this.#ledger.lifeOf(uid)}`;
      const before = this.#seen.get(uid)?.life === life ? this.#seen.get(uid) : undefined;
      const now: Seen = {
        life,
        worker: worker === undefined ? -1 : phaseOrder.indexOf(worker.phase),
        version: stores.statuses.versionOf(uid),
        phase: status?.phase,
        settled: before?.settled === true || worker?.phase === 'syncing' || worker?.phase === 'waiting',
      };
      if (before?.settled === true && this.#node.isDesired(uid)) this.#forward(uid, before, now);
      this.#seen.set(uid, now);
      // What was reported of a former life of the pod is not about this one.
      if (before?.settled !== true) this.#node.agent.announced.delete(uid);
      const announced = this.#node.agent.announced.get(uid);
      if (announced !== undefined && now.settled) this.#restartCounts(uid, announced);
    }
  }

  #forward(uid: PodUid, before: Seen, now: Seen): void {
    const name = (index: number): string => phaseOrder[index] ?? 'forgotten';
    if (now.worker < before.worker) {
      this.#complain(`the worker of ${uid} went back from ${name(before.worker)} to ${name(now.worker)}`);
    }
    if (now.version < before.version) {
      this.#complain(`the status version of ${uid} went back from ${before.version} to ${now.version}`);
    }
    if (isTerminalPhase(before.phase) && now.phase !== before.phase) {
      this.#complain(`the phase of ${uid} went from ${before.phase} to ${now.phase}`);
    }
  }

  #restartCounts(uid: PodUid, status: PodStatus): void {
    if (!this.#node.isDesired(uid)) return;
    for (const { name, restartCount } of [
      ...(status.containerStatuses ?? []),
      ...(status.initContainerStatuses ?? []),
    ]) {
      // Who removes containers behind the agent's back takes the count away too, unless the agent lived to see it.
      const whose = this.#node.tampered.has(uid) ? `, agent ${this.#node.agent.lives}` : '';
      const key = `${uid} ${name} (life ${this.#ledger.lifeOf(uid)} of its manifest${whose})`;
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
      const stack = entry.error instanceof Error ? entry.error.stack : messageOf(entry.error);
      this.#complain(`the agent logs an error that the world did not cause: ${entry.message}: ${stack}`);
    }
  }
}
