import { podUid } from '../../src/base/ids.ts';
import type { Container } from '../../src/gen/kubernetes/types.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { imageOf, withVolumes, type PodPlan } from './pod-plans.ts';
import { volumeKinds, type Shown, type VolumeKind } from './storage.ts';
import { WatchedNode } from './watched-node.ts';

export const stages = ['setUp', 'change', 'tearDown'] as const;
export type Stage = (typeof stages)[number];

/** Where the agent dies, and what else happens while there is none. */
export interface Death {
  readonly stage: Stage;
  /** Of files and mounts, counted from one. */
  readonly step: number;
  readonly at: 'before' | 'after';
  readonly meanwhile: (typeof aftermaths)[number];
}

/** The pod is still wanted; it was deleted meanwhile; the machine lost its memory too. */
const aftermaths = ['goesOn', 'isDeleted', 'reboots'] as const;

/** A course in words, and back. */
export const nameOf = ({ stage, step, at, meanwhile }: Death): string => `course ${stage} ${at} ${step} ${meanwhile}`;

export function readCourse(text: string): Death {
  const [stage, at, step, meanwhile] = text.split(' ');
  return {
    stage: stage as Stage,
    step: Number(step),
    at: at as Death['at'],
    meanwhile: meanwhile as Death['meanwhile'],
  };
}

/**
 * The life of one pod with volumes of every kind, beside a neighbour with some of the same that lives on: set up; objects
 * changed and containers started anew; taken down. The agent dies at one step of it, or never. Answers how many steps each
 * stage has taken.
 */
export class VolumeCourse {
  readonly #watched: WatchedNode;
  readonly #death: Death | undefined;
  readonly #counts: Record<Stage, number> = { setUp: 0, change: 0, tearDown: 0 };
  readonly #pod = planned('front', new Map(volumeKinds.map((kind) => [kind, 'both'])));
  readonly #neighbour = planned('back', new Map([...neighbourly].map((kind) => [kind, 'both'])));
  #isAfterDeath = false;

  constructor(death?: Death) {
    this.#death = death;
    this.#watched = new WatchedNode(1, death === undefined ? 'course none' : nameOf(death));
  }

  get trail(): readonly string[] {
    return this.#watched.node.trail.all();
  }

  async run(): Promise<Readonly<Record<Stage, number>>> {
    const { node } = this.#watched;
    node.tame = true;
    node.agent.begin();
    this.#put(this.#neighbour);
    await this.#watched.settle();
    const before = this.#running(this.#neighbour);
    await this.#stage('setUp', () => this.#put(this.#pod));
    await this.#stage('change', () => {
      node.storage.version++;
      node.cluster.putObjects(node.storage);
      for (const { id, state } of node.containersOf(this.#pod.uid)) if (state === 'running') node.cri.killContainer(id);
    });
    await this.#stage('tearDown', () => this.#remove(this.#pod));
    if (this.#death !== undefined && !this.#isAfterDeath) this.#watched.fail('nobody has died');
    const after = this.#running(this.#neighbour);
    if (this.#death?.meanwhile !== 'reboots' && after.join() !== before.join()) {
      this.#watched.fail('the containers of the neighbour are others than before');
    }
    this.#remove(this.#neighbour);
    await this.#watched.settle();
    await this.#watched.stop();
    return this.#counts;
  }

  async #stage(stage: Stage, begin: () => void): Promise<void> {
    const { node } = this.#watched;
    const { steps, agent } = { steps: node.steps, agent: node.agent };
    const deaths = agent.deaths.length;
    if (this.#death?.stage === stage) agent.life?.lightFuse(this.#death.step, this.#death.at, 'steps');
    begin();
    // Long enough for everything that can be done at once, and so for the death.
    await this.#watched.advance(0);
    for (let waits = 0; waits < mostWaits && this.#death?.stage === stage && agent.deaths.length === deaths; waits++) {
      await this.#watched.advance(1_000);
    }
    if (agent.deaths.length > deaths) this.#meanwhile();
    await this.#watched.settle();
    this.#counts[stage] = node.steps - steps;
  }

  /** There is no agent now. */
  #meanwhile(): void {
    const { node } = this.#watched;
    this.#isAfterDeath = true;
    if (this.#death?.meanwhile === 'isDeleted') this.#remove(this.#pod);
    if (this.#death?.meanwhile === 'reboots') node.reboot(1_000);
  }

  #put(plan: PodPlan): void {
    const { node, monitor } = this.#watched;
    node.plans.set(plan.uid, plan);
    node.manifests.set(plan.slot, plan);
    monitor.ledger.manifestAdded(plan.uid);
    node.cluster.put(plan);
  }

  #remove(plan: PodPlan): void {
    const { node, monitor } = this.#watched;
    if (!node.manifests.delete(plan.slot)) return;
    monitor.ledger.manifestRemoved(plan.uid);
    node.cluster.wipe(plan);
  }

  #running({ uid }: PodPlan): readonly string[] {
    const containers = this.#watched.node.containersOf(uid);
    return containers.filter(({ state }) => state === 'running').map(({ id }) => id);
  }
}

/** Seconds after which the last step of a stage has been taken. */
const mostWaits = 30;
/** Kinds that two pods share something of: a disk, a server, objects. */
const neighbourly: readonly VolumeKind[] = ['memory', 'config', 'keys', 'local', 'device', 'remote'];

function planned(name: string, shown: ReadonlyMap<VolumeKind, Shown>): PodPlan {
  const uid = `${name}-v1`;
  const container = (of: string): Container => aContainer(of, { image: imageOf(uid) });
  const spec = withVolumes(
    {
      terminationGracePeriodSeconds: 2,
      initContainers: [container('init0')],
      containers: [container('regular0')],
      securityContext: { fsGroup: 2_000 },
    },
    name,
    shown,
  );
  return {
    uid: podUid(uid),
    slot: name,
    name,
    pod: aPod({ name, uid, spec, source: 'api' }),
    restartPolicy: 'Always',
    graceSeconds: 2,
    containers: [
      { name: 'init0', role: 'init', temper: 'completes' },
      { name: 'regular0', role: 'regular', temper: 'serves' },
    ],
    volumes: [...shown.keys()],
  };
}
