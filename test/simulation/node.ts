import { TubeletError } from '../../src/base/errors.ts';
import { podUid, type PodUid } from '../../src/base/ids.ts';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { isMirrorPod } from '../../src/model/annotations.ts';
import { staticPodName } from '../../src/model/static-pod.ts';
import type { FakeContainer, FakeCri } from '../../src/testing/fake-cri/index.ts';
import { FakeClock } from '../../src/testing/fake-clock.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { nodeName } from '../support/agent-settings.ts';
import { fakeMachine, type FakeMachine } from '../support/fake-platform.ts';
import { Agent } from './agent.ts';
import { Cluster } from './cluster.ts';
import { Dice } from './dice.ts';
import { SimDisk, type DiskWatch } from './disk/sim-disk.ts';
import type { BorderWatch } from './life.ts';
import { tameBehaviour, uidOfImage, wildBehaviour, type PodPlan } from './pod-plans.ts';
import { SimDriver } from './sim-driver.ts';
import { Storage } from './storage.ts';
import { Troubles } from './troubles.ts';
import type { Trail } from './trail.ts';

/** What pods may be called: each name has folders of its own on the machine. */
export const podNames = { file: ['web', 'db', 'job'], api: ['front', 'back', 'batch'] } as const;
/** Deadline of runtime calls: short, so that calls that hang end within a run. */
export const requestMs = 20_000;

/** What watches a node for broken rules. */
export interface NodeWatch
  extends Pick<BorderWatch, 'leaving' | 'back'>, Pick<DiskWatch, 'removed' | 'mounted' | 'unmounted' | 'crossing'> {
  /** A process is about to start. */
  starting(uid: PodUid, name: string, attempt: number): void;
  /** Something is about to happen on the disk. */
  disk(operation: string, path: string): void;
  complain(rule: string): void;
  /** The agent has died. */
  died(): void;
  /** The machine has lost what was in memory. */
  rebooted(): void;
}

/** One machine: runtime and disk that outlive the agent, the manifests folder, and an agent that can die and come back. */
export class SimNode {
  readonly clock = new FakeClock({ quietTurns: 2 });
  readonly machine: FakeMachine;
  readonly cri: FakeCri;
  readonly disk = new SimDisk();
  readonly storage: Storage;
  readonly driver: SimDriver;
  readonly agent: Agent;
  readonly cluster: Cluster;
  readonly trail: Trail;
  readonly troubles: Troubles = new Troubles(this.clock, () => this.agent);
  /** Every version of a manifest that there ever was. */
  readonly plans = new Map<PodUid, PodPlan>();
  /** What the sources name, by pod name: versions of files in the manifests folder, and pods of the API server. */
  readonly manifests = new Map<string, PodPlan>();
  /** Pods of which somebody removed something behind the agent's back. */
  readonly tampered = new Set<PodUid>();
  /** How many seconds evicted pods were given. */
  readonly evictedWithin = new Map<PodUid, number>();
  /** When somebody last set the clock on the wall. */
  wallSetAt = Number.NEGATIVE_INFINITY;
  /** Programs do what they were made for. */
  tame = false;
  diskDelayMs: () => number = () => 0;
  /** How many steps files and mounts have taken in the agent's hands. */
  steps = 0;
  #boots = 1;
  #diskFault: (operation: string, path: string) => void = () => {};
  readonly #watcher: NodeWatch;

  constructor(seed: number, trail: (now: () => number) => Trail, watch: (node: SimNode) => NodeWatch) {
    const { clock, disk } = this;
    this.trail = trail(() => clock.monotonic());
    const logs = { append: (path: string, text: string) => disk.append(path, text) };
    this.machine = fakeMachine({
      seed,
      cluster: true,
      clock,
      runtime: { timeouts: { requestMs }, logs },
      apiServer: { uidOf: (object) => ownUid(object) },
    });
    this.cri = this.machine.cri;
    disk.append('/etc/hosts', '127.0.0.1 localhost\n');
    this.storage = new Storage(
      disk,
      Object.values(podNames)
        .flat()
        .flatMap((name) => [name, staticPodName(name, nodeName)]),
    );
    this.driver = new SimDriver(clock, disk, this.storage);
    if (this.machine.api === undefined) throw new Error('the machine has no API server');
    this.cluster = new Cluster(this.machine.api, this.storage, () => this.now());
    const watcher = watch(this);
    const complain = (rule: string): void => watcher.complain(rule);
    this.driver.complain = complain;
    this.#watcher = watcher;
    disk.watch = this.#steps(watcher);
    disk.fault = (operation, path) => {
      this.#diskFault(operation, path);
      watcher.disk(operation, path);
    };
    this.#script(new Dice(seededRandom(seed + 0.5)));
    const { machine, storage, driver } = this;
    this.agent = new Agent({
      sim: {
        machine,
        disk,
        storage,
        driver,
        bootId: () => `boot-${this.#boots}`,
        complain,
      },
      watch: {
        leaving: watcher.leaving.bind(watcher),
        back: watcher.back.bind(watcher),
        died: () => this.troubles.becomesLate(),
      },
      diskDelayMs: () => this.diskDelayMs(),
      note: (line) => this.trail.note(line),
      onDeath: () => watcher.died(),
      isDeaf: () => this.troubles.deafUntil > this.now(),
    });
  }

  now(): number {
    return this.clock.monotonic();
  }

  /** The end of all trouble; what is under way may still take until its deadline. */
  calmDown(): void {
    this.troubles.end();
    this.cri.faults.clear();
    this.cluster.server.faults.clear();
    // What is half open would bring nothing for minutes.
    this.cluster.server.reset();
    this.agent.life?.snuffFuse();
    this.tame = true;
    this.trail.note('--- all trouble ends ---');
  }

  /** The machine restarts, and the agent with it. */
  reboot(downMs: number): void {
    this.agent.kill('cut', downMs);
    this.#boots++;
    this.cri.reboot();
    this.machine.cgroups.groups.clear();
    this.machine.cgroups.make('/');
    this.disk.table.clear();
    this.driver.reboot();
    this.#watcher.rebooted();
  }

  /** Every step may be the agent's last. */
  #steps(watcher: NodeWatch): DiskWatch {
    return {
      before: () => this.agent.life?.stepping('before'),
      after: () => {
        this.steps++;
        this.agent.life?.stepping('after');
      },
      removed: (inode, path) => watcher.removed(inode, path),
      mounted: (mount) => watcher.mounted(mount),
      unmounted: (mount) => watcher.unmounted(mount),
      crossing: (path, mount) => watcher.crossing(path, mount),
    };
  }

  /** What containers do. */
  #script(dice: Dice): void {
    this.cri.programs.otherwise(({ image, container, attempt }) => {
      const plan = this.plans.get(uidOfImage(image));
      const planned = plan?.containers.find(({ name }) => name === container);
      if (plan === undefined || planned === undefined) throw new Error(`no plan for ${image} ${container}`);
      this.#watcher.starting(plan.uid, container, attempt);
      return this.tame ? tameBehaviour(plan, planned) : wildBehaviour(dice, planned);
    });
  }

  /** A source names the pod and does not want it to end. */
  mayRun(uid: PodUid): boolean {
    return this.isDesired(uid) && this.cluster.deletionOf(uid) === undefined;
  }

  /** How long the pod has to stop, in seconds, for those who want it gone. */
  graceOf(uid: PodUid): number {
    return this.cluster.deletionOf(uid)?.graceSeconds ?? this.plans.get(uid)?.graceSeconds ?? 0;
  }

  /** The longest that somebody has given the pod: who evicts it may give it more than it asked for itself. */
  longestGraceOf(uid: PodUid): number {
    return Math.max(this.graceOf(uid), this.evictedWithin.get(uid) ?? 0);
  }

  /** A source names the pod, be it on its way out. */
  isDesired(uid: PodUid): boolean {
    return [...this.manifests.values()].some((plan) => plan.uid === uid);
  }

  containersOf(uid: PodUid): FakeContainer[] {
    return [...this.cri.state.containers.values()].filter((container) => uidOf(container) === uid);
  }

  diskFails(operations: readonly string[]): void {
    this.#diskFault = (operation, path) => {
      if (operations.includes(operation)) throw new TubeletError('exhausted', `no space left on device: ${path}`);
    };
  }

  diskWorks(): void {
    this.#diskFault = () => {};
  }
}

/** Mirror pods are named by the server, and so is what the agent makes; plans say what their pods are called. */
const ownUid = ({ metadata = {} }: Pod): string | undefined => (isMirrorPod(metadata) ? undefined : metadata.uid);

export function uidOf(container: Pick<FakeContainer, 'config'>): PodUid {
  return podUid(container.config.labels['io.kubernetes.pod.uid'] ?? '');
}
