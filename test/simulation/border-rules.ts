import type { PodUid } from '../../src/base/ids.ts';
import type { FakeContainer } from '../../src/testing/fake-cri/index.ts';
import type { Ledger } from './ledger.ts';
import type { SimNode } from './node.ts';
import type { Complain } from './runtime-rules.ts';

/** Whoever stops a container gives it this many seconds at least. */
const minimumGraceSeconds = 2;

/** Rules about what the agent may ask of the runtime. */
export class BorderRules {
  readonly #node: SimNode;
  readonly #ledger: Ledger;
  readonly #complain: Complain;

  constructor(node: SimNode, ledger: Ledger, complain: Complain) {
    this.#node = node;
    this.#ledger = ledger;
    this.#complain = complain;
  }

  leaving(verb: string, subject: unknown): void {
    const containerId = idIn(subject, 'containerId');
    const sandboxId = idIn(subject, 'podSandboxId');
    switch (verb) {
      case 'stopContainer':
        this.#ledger.stopping(containerId);
        return this.#givesGrace(containerId, subject);
      case 'removeContainer':
        this.#killsNothing(verb, this.#containers([containerId]));
        return this.#removesContainer(containerId);
      case 'stopPodSandbox':
        return this.#killsNothing(verb, this.#node.cri.state.containersOf(sandboxId));
      case 'removePodSandbox':
        this.#killsNothing(verb, this.#node.cri.state.containersOf(sandboxId));
        return this.#removesSandbox(sandboxId);
      default:
        return undefined;
    }
  }

  /** A regular container of a pod that the agent knows gets all of its grace, unless somebody decided to end it sooner. */
  #givesGrace(id: string, request: unknown): void {
    const record = this.#ledger.containers.get(id);
    const plan = record && this.#node.plans.get(record.uid);
    const worker = record && this.#node.agent.stores?.lifecycles.stateOf(record.uid);
    if (record === undefined || plan === undefined || worker === undefined || worker.phase === 'finished') return;
    const isOrphan = 'target' in worker && worker.target.kind === 'orphan';
    const isDecided = 'decided' in worker && worker.decided !== undefined;
    const isRegular = plan.containers.some(({ name, role }) => name === record.name && role === 'regular');
    if (isOrphan || isDecided || !isRegular) return;
    const { timeout } = request as { readonly timeout: bigint };
    const graceSeconds = worker.phase === 'syncing' ? plan.graceSeconds : this.#node.graceOf(record.uid);
    const deletion = this.#node.cluster.deletionOf(record.uid);
    const isFresh = deletion !== undefined && !this.#node.troubles.mustKnow(deletion.since);
    const wanted = [graceSeconds, ...(isFresh ? [plan.graceSeconds, ...deletion.before] : [])].map((seconds) =>
      Math.max(minimumGraceSeconds, seconds),
    );
    if (!wanted.includes(Number(timeout))) {
      this.#complain(
        `${record.uid} ${record.name} is stopped within ${timeout} s, its grace is ${wanted.join(' or ')} s`,
      );
    }
  }

  /** These verbs kill at once what still runs; who runs must have been asked to stop before. */
  #killsNothing(verb: string, containers: readonly FakeContainer[]): void {
    const victim = containers.find(
      ({ id, state }) => state === 'running' && this.#ledger.containers.get(id)?.stopping !== true,
    );
    if (victim !== undefined && !this.#node.troubles.isLate())
      this.#complain(`${verb} kills ${victim.name} without its grace`);
  }

  /** While somebody wants the pod, only what has a successor may go: people look for logs and exit codes. */
  #removesContainer(id: string): void {
    const record = this.#ledger.containers.get(id);
    const container = this.#node.cri.state.containers.get(id);
    if (record === undefined || container === undefined || container.state === 'created') return;
    if (!this.#isPresent(record.uid, record.life) || this.#node.tampered.has(record.uid)) return;
    const newer = this.#ledger
      .instances(record.uid, record.name)
      .filter(
        (other) => other.attempt > record.attempt && this.#node.cri.state.containers.get(other.id)?.state === 'exited',
      );
    if (container.state === 'exited' && newer.length > 0) return;
    if (container.state === 'running' && this.#node.troubles.isLate()) return;
    this.#complain(
      `${record.uid} ${record.name}#${record.attempt} (${container.state}) is removed while its manifest is there`,
    );
  }

  #removesSandbox(id: string): void {
    const record = this.#ledger.sandboxes.get(id);
    const sandbox = this.#node.cri.state.sandboxes.get(id);
    if (record === undefined || sandbox === undefined || !this.#isPresent(record.uid, record.life)) return;
    if (sandbox.state === 'ready')
      this.#complain(`a ready sandbox of ${record.uid} is removed while its manifest is there`);
    for (const container of this.#node.cri.state.containersOf(id)) this.#removesContainer(container.id);
  }

  #isPresent(uid: PodUid, life: number): boolean {
    return this.#node.mayRun(uid) && this.#ledger.lifeOf(uid) === life;
  }

  #containers(ids: readonly string[]): FakeContainer[] {
    return ids.flatMap((id) => this.#node.cri.state.containers.get(id) ?? []);
  }
}

export function idIn(request: unknown, field: string): string {
  const id = (request as Readonly<Record<string, unknown>> | undefined)?.[field];
  return typeof id === 'string' ? id : '';
}
