import { TubeletError } from '../../src/base/errors.ts';
import { podUid, type PodUid } from '../../src/base/ids.ts';
import type { DesiredPod, PodSource } from '../../src/model/desired-pod.ts';
import { createFakeCri, type FakeContainer, type FakeCri } from '../../src/testing/fake-cri/index.ts';
import { FakeClock } from '../../src/testing/fake-clock.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { Agent, checkpointPath } from './agent.ts';
import { ApiServer } from './api-server.ts';
import { Dice } from './dice.ts';
import { SimDisk, type DiskWatch } from './disk/sim-disk.ts';
import type { BorderWatch } from './life.ts';
import { tameBehaviour, uidOfImage, wildBehaviour, type PodPlan } from './pod-plans.ts';
import { SimDriver } from './sim-driver.ts';
import { Storage } from './storage.ts';
import type { Trail } from './trail.ts';

/** What pods may be called: each name has folders of its own on the machine. */
export const podNames = { file: ['web', 'db', 'job'], api: ['front', 'back', 'batch'] } as const;
/** Deadline of runtime calls: short, so that calls that hang end within a run. */
export const requestMs = 20_000;
/** A checkpoint follows a change after a second; a slow or full disk takes longer. */
const checkpointLagMs = 20_000;
/** The longest that the runtime may take for a call that it does late. */
export const longestDelayMs = 8_000;

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
  readonly cri: FakeCri;
  readonly disk = new SimDisk();
  readonly storage: Storage;
  readonly driver: SimDriver;
  readonly agent: Agent;
  readonly api: ApiServer;
  readonly trail: Trail;
  /** Every version of a manifest that there ever was. */
  readonly plans = new Map<PodUid, PodPlan>();
  /** What the sources name, by pod name: versions of files in the manifests folder, and pods of the API server. */
  readonly manifests = new Map<string, PodPlan>();
  readonly cgroupsRemoved = new Set<string>();
  /** When the agent last removed the files of a pod. */
  readonly filesRemovedAt = new Map<PodUid, number>();
  /** Pods of which somebody removed something behind the agent's back. */
  readonly tampered = new Set<PodUid>();
  /** How many seconds evicted pods were given. */
  readonly evictedWithin = new Map<PodUid, number>();
  /** Programs do what they were made for. */
  tame = false;
  diskDelayMs: () => number = () => 0;
  /** How many steps files and mounts have taken in the agent's hands. */
  steps = 0;
  /** Until then something may go wrong that is not the agent's fault. */
  #troubledUntil = 0;
  readonly #endings = new Set<() => void>();
  #diskFault: (operation: string, path: string) => void = () => {};
  readonly #watcher: NodeWatch;

  constructor(seed: number, trail: (now: () => number) => Trail, watch: (node: SimNode) => NodeWatch) {
    const { clock, disk } = this;
    this.trail = trail(() => clock.monotonic());
    const logs = { append: (path: string, text: string) => disk.append(path, text) };
    this.cri = createFakeCri({ clock, timeouts: { requestMs }, logs });
    disk.append('/etc/hosts', '127.0.0.1 localhost\n');
    disk.append(`${checkpointPath}.folder`, '');
    this.storage = new Storage(disk, [...podNames.file, ...podNames.api]);
    this.driver = new SimDriver(clock, disk, this.storage);
    const watcher = watch(this);
    this.driver.complain = (rule) => watcher.complain(rule);
    this.#watcher = watcher;
    disk.watch = this.#steps(watcher);
    disk.fault = (operation, path) => {
      this.#diskFault(operation, path);
      watcher.disk(operation, path);
    };
    const dice = new Dice(seededRandom(seed + 0.5));
    this.cri.programs.otherwise(({ image, container, attempt }) => {
      const plan = this.plans.get(uidOfImage(image));
      const planned = plan?.containers.find(({ name }) => name === container);
      if (plan === undefined || planned === undefined) throw new Error(`no plan for ${image} ${container}`);
      watcher.starting(plan.uid, container, attempt);
      return this.tame ? tameBehaviour(plan, planned) : wildBehaviour(dice, planned);
    });
    // A node in trouble may also fail to write a status.
    this.api = new ApiServer(() => !this.tame && dice.chance(0.2));
    this.agent = new Agent({
      clock,
      cri: this.cri,
      disk,
      storage: this.storage,
      driver: this.driver,
      seed,
      watch: {
        leaving: watcher.leaving.bind(watcher),
        back: watcher.back.bind(watcher),
        died: () => this.becomesLate(),
      },
      diskDelayMs: () => this.diskDelayMs(),
      note: (line) => this.trail.note(line),
      removeCgroup: (uid) => {
        disk.fault('removeCgroup', uid);
        this.cgroupsRemoved.add(uid);
      },
      onDeath: () => watcher.died(),
      isDeaf: () => this.deafUntil > this.now(),
      onStatus: (uid, status) => this.api.write(uid, status),
      pods: (source) => this.#pods(source),
    });
  }

  now(): number {
    return this.clock.monotonic();
  }

  /** Since when nothing has been wrong with the world and the agent has known its manifests; nothing while that is not so. */
  calmSince(): number | undefined {
    const { spokenAt } = this.agent;
    return spokenAt === undefined || this.#troubledUntil > this.now()
      ? undefined
      : Math.max(spokenAt, this.#troubledUntil);
  }

  /** Something is wrong for a while: `end` ends it, and its effects may be felt for `echoMs` longer. */
  trouble(lastsMs: number, echoMs: number, end: () => void): void {
    const ending = (): void => {
      if (this.#endings.delete(ending)) end();
    };
    this.#endings.add(ending);
    this.clock.after(lastsMs, ending);
    this.#troubledUntil = Math.max(this.#troubledUntil, this.now() + lastsMs + echoMs);
  }

  /** The end of all trouble; what is under way may still take until its deadline. */
  calmDown(): void {
    for (const ending of this.#endings) ending();
    this.cri.faults.clear();
    this.agent.life?.snuffFuse();
    this.tame = true;
    this.trail.note('--- all trouble ends ---');
  }

  /** The machine restarts, and the agent with it. */
  reboot(downMs: number, silentMs: number): void {
    this.agent.kill('cut', downMs, silentMs);
    this.cri.reboot();
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

  /** The runtime does not listen when a call is given up, and does late what nobody waits for any more. */
  deafUntil = 0;

  #pods(source: PodSource): readonly DesiredPod[] {
    const plans = [...this.manifests.values()].filter(({ pod }) => pod.source === source);
    return plans.map((plan) => (source === 'api' ? this.api.podOf(plan) : plan.pod));
  }

  /** The agent died, and the runtime finishes for nobody what it was asked for. */
  becomesLate(): void {
    this.deafUntil = Math.max(this.deafUntil, this.now());
  }

  /** Something may happen now that was asked for a while ago and given up since. */
  isLate(): boolean {
    return this.deafUntil + longestDelayMs > this.now();
  }

  /**
   * The agent removed what was left of a pod, and died before that was on disk: its heir remembers how the pod ended, and
   * takes one that comes back under the uid for the same.
   */
  mayHaveForgotten(uid: PodUid): boolean {
    const removedAt = this.filesRemovedAt.get(uid);
    return (
      removedAt !== undefined && this.agent.deaths.some((at) => at >= removedAt && at < removedAt + checkpointLagMs)
    );
  }

  /** A source names the pod and does not want it to end. */
  mayRun(uid: PodUid): boolean {
    return this.isDesired(uid) && this.api.deletionOf(uid) === undefined;
  }

  /** How long the pod has to stop, in seconds, for those who want it gone. */
  graceOf(uid: PodUid): number {
    return this.api.deletionOf(uid)?.graceSeconds ?? this.plans.get(uid)?.graceSeconds ?? 0;
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

export function uidOf(container: Pick<FakeContainer, 'config'>): PodUid {
  return podUid(container.config.labels['io.kubernetes.pod.uid'] ?? '');
}
