import type { DesiredPod } from '../../src/model/desired-pod.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { withVolumes } from './pod-plans.ts';
import { volumeKinds, type Shown, type VolumeKind } from './storage.ts';
import type { VolumeAgent } from './volume-agent.ts';
import type { Death, Stage } from './volume-course.ts';
import { VolumeMachine } from './volume-machine.ts';

/** Kinds of which two pods share something: a disk, a server, a driver. */
const shared: readonly VolumeKind[] = ['memory', 'device', 'driven'];

/** The way of one pod's volumes through set-up, change and tear-down, beside those of a pod that lives on. */
class Way {
  readonly machine = new VolumeMachine(['web', 'db']);
  readonly #pod = podWith('web', volumeKinds);
  readonly #neighbour = podWith('db', shared);
  #instance = 0;
  /** Its containers are to be started anew, once they have seen what has changed. */
  #isToRestart = false;
  #isGone = false;

  /** All that an agent does that finds pods and machine as they are now. */
  async #sync(agent: VolumeAgent): Promise<void> {
    await Promise.all([
      this.#run(agent, this.#neighbour),
      this.#isGone ? this.#remove(agent) : this.#run(agent, this.#pod),
    ]);
  }

  async #run(agent: VolumeAgent, pod: DesiredPod): Promise<void> {
    const { machine } = this;
    machine.wanted.add(pod.uid);
    await agent.mount(pod);
    if (pod === this.#pod && this.#isToRestart) this.#endContainers();
    if ([...machine.running.values()].some((other) => other.pod === pod)) return;
    const mounts = await agent.show(pod, 'main');
    const id = `${pod.name} ${++this.#instance}`;
    machine.start(pod, { id, name: id, mounts, group: pod.spec.securityContext?.fsGroup });
  }

  async #remove(agent: VolumeAgent): Promise<void> {
    await agent.remove(this.#pod.uid);
  }

  /** Its containers end, by themselves or because nobody wants them. */
  #endContainers(): void {
    this.#isToRestart = false;
    for (const [id, { pod }] of this.machine.running) if (pod === this.#pod) this.machine.running.delete(id);
  }

  #delete(): void {
    this.#isGone = true;
    this.#endContainers();
    this.machine.wanted.delete(this.#pod.uid);
  }

  /** What happens before the agent of a stage has something to do. */
  #begin(stage: Stage): void {
    if (stage === 'tearDown') this.#delete();
    if (stage !== 'change') return;
    this.#isToRestart = true;
    this.machine.storage.version++;
  }

  async run(death?: Death): Promise<Readonly<Record<Stage, number>>> {
    const counts: Record<Stage, number> = { setUp: 0, change: 0, tearDown: 0 };
    const { agent: first } = await this.machine.begin();
    await this.#run(first, this.#neighbour);
    let agent = first;
    for (const stage of ['setUp', 'change', 'tearDown'] as const) {
      const before = this.machine.steps.length;
      // It takes time, and says nothing of deaths elsewhere.
      if (stage === 'change' && death?.stage !== stage) continue;
      this.#begin(stage);
      if (death?.stage === stage) agent = await this.#die(death);
      else await this.#sync(agent);
      this.machine.rules.inspect(`after ${stage}`);
      counts[stage] = this.machine.steps.length - before;
    }
    await this.#end(agent);
    return counts;
  }

  /** An agent that comes up for this stage alone, dies in it, and has an heir. Counted from one step to the next. */
  async #die(death: Death): Promise<VolumeAgent> {
    const { machine } = this;
    const { agent, died } = await machine.begin(death);
    const outcome = await Promise.race([this.#sync(agent).then(() => 'done'), died]);
    if (outcome !== 'died') {
      if (Number.isFinite(death.step)) throw new Error('nobody has died');
      return agent;
    }
    machine.rules.inspect('after the death');
    if (death.meanwhile === 'isDeleted') this.#delete();
    if (death.meanwhile === 'reboots') machine.reboot();
    const { agent: heir } = await machine.begin();
    await this.#sync(heir);
    return heir;
  }

  async #end(agent: VolumeAgent): Promise<void> {
    const { machine } = this;
    if (!this.#isGone) this.#delete();
    await this.#sync(agent);
    machine.running.clear();
    machine.wanted.clear();
    await agent.remove(this.#neighbour.uid);
    machine.rules.inspect('in the end');
    machine.broken.push(...machine.leftOvers());
  }
}

/** How many steps each stage has for an agent that has just come up. */
export async function countSteps(stage: Stage): Promise<number> {
  const counts = await new Way().run({ stage, step: Infinity, at: 'after', meanwhile: 'goesOn' });
  return counts[stage];
}

/** What went wrong when an agent died there; rejects when it did not come so far. */
export async function goThrough(death?: Death): Promise<readonly string[]> {
  const way = new Way();
  await way.run(death);
  return way.machine.broken;
}

function podWith(name: string, kinds: readonly VolumeKind[]): DesiredPod {
  const shown = new Map<VolumeKind, Shown>(kinds.map((kind) => [kind, 'both']));
  const spec = { containers: [aContainer('main')], securityContext: { fsGroup: 7 } };
  return aPod({ name, uid: `${name}-v1`, spec: withVolumes(spec, name, shown) });
}
