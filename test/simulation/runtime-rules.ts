import type { PodUid } from '../../src/base/ids.ts';
import type { FakeContainer } from '../../src/testing/fake-cri/index.ts';
import { resyncMs } from './agent.ts';
import type { Ledger } from './ledger.ts';
import { requestMs, uidOf, type SimNode } from './node.ts';
import type { PodPlan } from './pod-plans.ts';

export type Complain = (rule: string) => void;

/** A stop gets at least this long, whatever the manifest says. */
const minimumGraceMs = 2_000;
/** For what is left of trouble: a retry of the worker, a loop that backed off. */
const recoveryMs = 60_000;

/** Rules about what the runtime may have and start. */
export class RuntimeRules {
  readonly #node: SimNode;
  readonly #ledger: Ledger;
  readonly #complain: Complain;
  readonly #twoSandboxesSince = new Map<PodUid, number>();

  constructor(node: SimNode, ledger: Ledger, complain: Complain) {
    this.#node = node;
    this.#ledger = ledger;
    this.#complain = complain;
  }

  look(): void {
    this.#oneSandbox();
    const running = [...this.#node.cri.state.containers.values()].filter(({ state }) => state === 'running');
    this.#oneOfEachName(running);
    for (const container of running) this.#withinGrace(container);
  }

  /** A process is about to start. */
  starting(uid: PodUid, name: string, attempt: number): void {
    const plan = this.#node.plans.get(uid);
    const planned = plan?.containers.find((container) => container.name === name);
    const container = this.#node
      .containersOf(uid)
      .find(({ config, state }) => state === 'created' && matches(config.metadata, name, attempt));
    if (plan === undefined || planned === undefined || container === undefined) {
      this.#complain(`a container starts that was never made: ${uid} ${name}#${attempt}`);
      return;
    }
    const what = `${uid} ${name}#${attempt}`;
    const running = this.#node
      .containersOf(uid)
      .find(({ config, state }) => state === 'running' && config.metadata?.name === name);
    if (running !== undefined) this.#complain(`${what} starts while #${running.config.metadata?.attempt} of it runs`);
    const since = this.#unwantedSince(uid);
    const isTold = since !== undefined && this.#node.troubles.mustKnow(since) && !this.#node.troubles.isLate();
    if (isTold && !this.#node.mayRun(uid)) this.#complain(`${what} starts although nobody wants it`);
    if (planned.role === 'regular') this.#mayRunAgain(plan, name, container.id, what);
    this.#inOrder(plan, name, container.sandboxId, what);
  }

  #mayRunAgain(plan: PodPlan, name: string, id: string, what: string): void {
    const before = this.#ledger.instances(plan.uid, name).filter((record) => record.id !== id && record.started);
    if (plan.restartPolicy === 'Never' && before.length > 0) {
      this.#complain(`${what} runs a second time under restartPolicy Never`);
    }
    // One that was asked to stop, because its sandbox had died, and said goodbye with 0 has not done its work; and
    // nobody can know of an end between the last look and the deed.
    const succeeded = before.filter(({ exitCode, stopping, seenEnded }) => exitCode === 0 && !stopping && seenEnded);
    if (plan.restartPolicy === 'OnFailure' && succeeded.length > 0) {
      this.#complain(`${what} runs again under OnFailure although it has succeeded`);
    }
  }

  #unwantedSince(uid: PodUid): number | undefined {
    return this.#node.cluster.deletionOf(uid)?.since ?? this.#ledger.removedAt(uid);
  }

  /** Init containers before it have succeeded and sidecars before it have started, in this sandbox. */
  #inOrder(plan: PodPlan, name: string, sandboxId: string, what: string): void {
    const here = [...this.#ledger.containers.values()].filter((record) => record.sandboxId === sandboxId);
    const order = (plan.pod.spec.initContainers ?? []).map((container) => container.name);
    const own = order.indexOf(name);
    for (const earlier of own < 0 ? order : order.slice(0, own)) {
      const isSidecar = plan.containers.find((container) => container.name === earlier)?.role === 'sidecar';
      const instances = here.filter((record) => record.name === earlier);
      const done = isSidecar
        ? instances.some(({ started }) => started)
        : instances.some(({ exitCode, started }) => started && exitCode === 0);
      if (!done)
        this.#complain(
          `${what} starts before ${earlier} ${isSidecar ? 'has started' : 'has succeeded'} in its sandbox`,
        );
    }
  }

  #oneSandbox(): void {
    const ready = new Map<PodUid, number>();
    for (const [id, { state }] of this.#node.cri.state.sandboxes) {
      const uid = this.#ledger.sandboxes.get(id)?.uid;
      if (uid !== undefined && state === 'ready') ready.set(uid, (ready.get(uid) ?? 0) + 1);
    }
    const calm = this.#node.troubles.calmSince();
    for (const [uid, since] of this.#twoSandboxesSince) {
      if ((ready.get(uid) ?? 0) < 2) this.#twoSandboxesSince.delete(uid);
      else if (calm !== undefined && this.#node.now() - Math.max(calm, since) > 1.5 * resyncMs + 2 * requestMs) {
        this.#complain(`${uid} has two ready sandboxes for longer than a resync`);
      }
    }
    for (const [uid, count] of ready) {
      if (count > 1 && !this.#twoSandboxesSince.has(uid)) this.#twoSandboxesSince.set(uid, this.#node.now());
    }
  }

  #oneOfEachName(running: readonly FakeContainer[]): void {
    const seen = new Set<string>();
    for (const container of running) {
      const key = `${uidOf(container)} ${container.config.metadata?.name}`;
      if (seen.has(key)) this.#complain(`two containers of one name run at once: ${key}`);
      seen.add(key);
    }
  }

  /** A container does not outlive its pod's grace; while the world is in trouble nobody can be blamed. */
  #withinGrace(container: FakeContainer): void {
    const uid = uidOf(container);
    const removedAt = this.#unwantedSince(uid);
    const calm = this.#node.troubles.calmSince();
    if (removedAt === undefined || calm === undefined) return;
    const plan = this.#node.plans.get(uid);
    // Sidecars stop after the others: with what is left of the grace, and the minimum at least.
    const sidecarMs = plan?.containers.some(({ role }) => role === 'sidecar') === true ? minimumGraceMs : 0;
    const graceMs = Math.max(minimumGraceMs, this.#node.longestGraceOf(uid) * 1_000) + sidecarMs;
    const allowedMs = graceMs + (calm <= removedAt ? 1_000 : recoveryMs);
    const overdueMs = this.#node.now() - Math.max(removedAt, calm) - allowedMs;
    if (overdueMs > 0) {
      this.#complain(
        `${uid} ${container.config.metadata?.name} outlives its grace of ${graceMs} ms by ${overdueMs} ms`,
      );
    }
  }
}

function matches(
  metadata: { readonly name: string; readonly attempt: number } | undefined,
  name: string,
  attempt: number,
): boolean {
  return metadata?.name === name && metadata.attempt === attempt;
}
