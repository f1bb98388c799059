import type { PodUid } from '../../src/base/ids.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import { manifestFolder } from '../support/agent-settings.ts';
import type { Dice } from './dice.ts';
import type { Ledger } from './ledger.ts';
import { podNames, type SimNode } from './node.ts';
import { manifestOf, planPod, withOtherImages, type PodPlan } from './pod-plans.ts';

type Source = keyof typeof podNames;

/** A look at the folder follows a change after a millisecond. */
const noticeMs = 5;
const fileOf = ({ slot }: PodPlan): string => `${manifestFolder}/${slot}.json`;

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
    return plan === undefined ? undefined : this.#put(this.#newVersion(plan.slot, 'file'));
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
    this.#node.cluster.delete(plan, graceSeconds);
    return `${plan.uid} within ${graceSeconds} s`;
  }

  /** Another image: the containers are replaced in place. */
  updateApiPod(): string | undefined {
    const plan = this.#dice.maybePick(this.#plansOf('api').filter(({ restartPolicy }) => restartPolicy === 'Always'));
    if (plan === undefined) return undefined;
    const updated = withOtherImages(plan, this.#dice);
    this.#node.plans.set(plan.uid, updated);
    this.#node.manifests.set(plan.slot, updated);
    this.#node.cluster.update(updated);
    return plan.uid;
  }

  /** A user deletes what stands for a static pod; the pod itself goes on. */
  deleteMirror(): string | undefined {
    const plan = this.#dice.maybePick(this.#plansOf('file'));
    if (plan === undefined || this.#node.cluster.pod(plan.name) === undefined) return undefined;
    const { objects } = this.#node.cluster.server;
    objects.remove(apiResources.pods, { namespace: 'default', name: plan.name }, this.#dice.pick([0, 5, 30]));
    return plan.name;
  }

  /** Another version of the ConfigMap and the Secret that volumes show. */
  changeObjects(): string {
    const { storage, cluster } = this.#node;
    storage.version++;
    cluster.putObjects(storage);
    return `to version ${storage.version}`;
  }

  /** A version that was there before: the same uid again. */
  bringBack(): string | undefined {
    const files = [...this.#node.plans.values()].filter(({ pod }) => pod.source === 'file');
    const gone = files.filter(({ uid }) => !this.#node.isDesired(uid) && this.#isHeard(uid));
    const plan = this.#dice.maybePick(gone.slice(-3));
    if (plan === undefined) return undefined;
    this.#node.troubles.broughtBackAt.set(plan.uid, this.#node.now());
    return this.#put(plan);
  }

  remove(plan: PodPlan): string {
    if (plan.pod.source === 'api') this.#node.cluster.wipe(plan);
    else this.#node.machine.manifests.remove(fileOf(plan));
    this.#node.manifests.delete(plan.slot);
    this.#ledger.manifestRemoved(plan.uid);
    return plan.uid;
  }

  evict(): string | undefined {
    const { views, heardAt } = this.#node.agent;
    const plan = this.#dice.maybePick([...this.#node.manifests.values()]);
    if (views === undefined || plan === undefined || heardAt === undefined) return undefined;
    const graceSeconds = this.#dice.pick([0, 1, 10]);
    this.#node.evictedWithin.set(plan.uid, graceSeconds);
    views.pods.terminate(plan.uid, { graceSeconds, decided: { reason: 'Evicted', message: 'The node was low' } });
    return plan.uid;
  }

  #plansOf(source: Source): PodPlan[] {
    return [...this.#node.manifests.values()].filter(({ pod }) => pod.source === source);
  }

  #add(source: Source): string | undefined {
    const name = this.#dice.maybePick(podNames[source].filter((free) => !this.#node.manifests.has(free)));
    return name === undefined ? undefined : this.#put(this.#newVersion(name, source));
  }

  /** A file that goes and comes back within a moment may not be seen to have gone. */
  #isHeard(uid: PodUid): boolean {
    const goneAt = this.#ledger.removedAt(uid);
    return goneAt === undefined || this.#node.now() - goneAt > noticeMs;
  }

  #newVersion(name: string, source: Source): PodPlan {
    const version = (this.#versions.get(name) ?? 0) + 1;
    this.#versions.set(name, version);
    const plan = planPod(this.#dice, name, version, source);
    this.#node.plans.set(plan.uid, plan);
    return plan;
  }

  #put(plan: PodPlan): string {
    const { manifests, machine, cluster } = this.#node;
    const before = manifests.get(plan.slot);
    if (before !== undefined) this.#ledger.manifestRemoved(before.uid);
    manifests.set(plan.slot, plan);
    this.#ledger.manifestAdded(plan.uid);
    if (plan.pod.source === 'api') cluster.put(plan);
    else machine.manifests.put(fileOf(plan), manifestOf(plan));
    const containers = plan.containers.map(({ name, temper }) => `${name} ${temper}`).join(', ');
    return `${plan.uid} (${plan.restartPolicy}, grace ${plan.graceSeconds} s: ${containers})`;
  }
}
