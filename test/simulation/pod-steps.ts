import type { Dice } from './dice.ts';
import type { Ledger } from './ledger.ts';
import { podNames, type SimNode } from './node.ts';
import { planPod, withOtherImages, type PodPlan } from './pod-plans.ts';

type Source = keyof typeof podNames;

/** What people do to pods: manifests come, change and go, and so do pods of the API server. */
export class PodSteps {
  readonly #node: SimNode;
  readonly #ledger: Ledger;
  readonly #dice: Dice;
  readonly #versions = new Map<string, number>();

  constructor(node: SimNode, ledger: Ledger, dice: Dice) {
    this.#node = node;
    this.#ledger = ledger;
    this.#dice = dice;
  }

  addPod(): string | undefined {
    return this.#add('file');
  }

  addApiPod(): string | undefined {
    return this.#add('api');
  }

  changePod(): string | undefined {
    const plan = this.#dice.maybePick(this.#plansOf('file'));
    return plan === undefined ? undefined : this.#put(this.#newVersion(plan.name, 'file'));
  }

  /** A file goes; of an API pod it is the deletion by force. */
  removePod(): string | undefined {
    const plan = this.#dice.maybePick([...this.#node.manifests.values()]);
    return plan === undefined ? undefined : this.remove(plan);
  }

  deleteApiPod(): string | undefined {
    const plan = this.#dice.maybePick(this.#plansOf('api'));
    return plan && this.delete(plan, this.#dice.pick([plan.graceSeconds, plan.graceSeconds, 0, 1, 10, 40]));
  }

  /** Asks for the end of an API pod. The agent stops it, and the API server lets it go when nothing of it runs. */
  delete(plan: PodPlan, graceSeconds = plan.graceSeconds): string {
    const { api, clock, agent } = this.#node;
    const isFirst = api.deletionOf(plan.uid) === undefined;
    api.delete(plan.uid, graceSeconds, { wallMs: clock.now(), monotonicMs: clock.monotonic() });
    agent.tell();
    if (isFirst) this.#awaitEnd(plan);
    return `${plan.uid} within ${graceSeconds} s`;
  }

  /** Another image: the containers are replaced in place. */
  updateApiPod(): string | undefined {
    const plan = this.#dice.maybePick(this.#plansOf('api').filter(({ restartPolicy }) => restartPolicy === 'Always'));
    if (plan === undefined) return undefined;
    const updated = withOtherImages(plan, this.#dice);
    this.#node.plans.set(plan.uid, updated);
    this.#node.manifests.set(plan.name, updated);
    this.#node.agent.tell();
    return plan.uid;
  }

  /** The sources say it all again, with the statuses that have reached the API server. */
  tellAgain(): string {
    this.#node.agent.tell();
    return '';
  }

  /** Another version of the ConfigMap and the Secret that volumes show. */
  changeObjects(): string {
    const { storage, agent } = this.#node;
    storage.version++;
    agent.tell();
    return `to version ${storage.version}`;
  }

  /** A version that was there before: the same uid again. */
  bringBack(): string | undefined {
    const files = [...this.#node.plans.values()].filter(({ pod }) => pod.source === 'file');
    const gone = files.filter(({ uid }) => !this.#node.isDesired(uid));
    const plan = this.#dice.maybePick(gone.slice(-3));
    return plan === undefined ? undefined : this.#put(plan);
  }

  remove(plan: PodPlan): string {
    this.#node.manifests.delete(plan.name);
    this.#ledger.manifestRemoved(plan.uid);
    this.#node.agent.tell();
    return plan.uid;
  }

  evict(): string | undefined {
    const { machine } = this.#node.agent;
    const plan = this.#dice.maybePick([...this.#node.manifests.values()]);
    if (machine === undefined || plan === undefined || this.#node.agent.spokenAt === undefined) return undefined;
    const graceSeconds = this.#dice.pick([0, 1, 10]);
    this.#node.evictedWithin.set(plan.uid, graceSeconds);
    machine.views.terminate(plan.uid, { graceSeconds, decided: { reason: 'Evicted', message: 'The node was low' } });
    return plan.uid;
  }

  #plansOf(source: Source): PodPlan[] {
    return [...this.#node.manifests.values()].filter(({ pod }) => pod.source === source);
  }

  #add(source: Source): string | undefined {
    const name = this.#dice.maybePick(podNames[source].filter((free) => !this.#node.manifests.has(free)));
    return name === undefined ? undefined : this.#put(this.#newVersion(name, source));
  }

  #awaitEnd(plan: PodPlan): void {
    const { agent, clock } = this.#node;
    clock.after(1_000, () => {
      if (!this.#node.isDesired(plan.uid)) return;
      if (agent.machine?.lifecycles.isFinished(plan.uid) === true)
        this.#node.trail.note(`** gone ${this.remove(plan)}`);
      else this.#awaitEnd(plan);
    });
  }

  #newVersion(name: string, source: Source): PodPlan {
    const version = (this.#versions.get(name) ?? 0) + 1;
    this.#versions.set(name, version);
    const plan = planPod(this.#dice, name, version, source);
    this.#node.plans.set(plan.uid, plan);
    return plan;
  }

  #put(plan: PodPlan): string {
    const before = this.#node.manifests.get(plan.name);
    if (before !== undefined) this.#ledger.manifestRemoved(before.uid);
    this.#node.manifests.set(plan.name, plan);
    this.#ledger.manifestAdded(plan.uid);
    this.#node.agent.tell();
    const containers = plan.containers.map(({ name, temper }) => `${name} ${temper}`).join(', ');
    return `${plan.uid} (${plan.restartPolicy}, grace ${plan.graceSeconds} s: ${containers})`;
  }
}
