import { Heartbeats } from '../../src/base/heartbeats.ts';
import { FlightRecorder } from '../../src/recorder/index.ts';
import type { FakeClock } from '../../src/testing/fake-clock.ts';
import { podUid, type PodUid } from '../../src/base/ids.ts';
import type { Cri } from '../../src/cri/index.ts';
import type { PodStatus } from '../../src/gen/kubernetes/types.ts';
import { ComponentRunner } from '../../src/main/component-runner.ts';
import { createSignals } from '../../src/main/agent/signals.ts';
import type { DesiredPod, PodSource } from '../../src/model/desired-pod.ts';
import type { Files } from '../../src/pods/directories/index.ts';
import { CheckpointFile } from '../../src/state/index.ts';
import { MemoryLog } from '../../src/testing/memory-log.ts';
import { anAdmissionNode } from '../../src/testing/admission-node.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { wholeCgroups } from '../../src/testing/whole-cgroups.ts';
import { testNode, testSettings } from '../support/agent-world.ts';
import { createPodWorld, type PodWorld } from '../support/pod-world.ts';
import type { SimDisk } from './disk/sim-disk.ts';
import { simMountPrograms, simVolumeHost } from './disk/volume-faces.ts';
import { Life, type BorderWatch } from './life.ts';
import { noDevices, type SimDriver } from './sim-driver.ts';
import { csiDriver, type Storage } from './storage.ts';

/** What the cluster says of the driver. */
const simDriverObject = {
  spec: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ['Persistent', 'Ephemeral'] },
};

export const resyncMs = 60_000;
const sources: readonly PodSource[] = ['file', 'api'];
/** A supervisor starts an agent again that failed to start. */
const startAgainMs = 5_000;

export const checkpointPath = '/var/lib/kubelet/pod_statuses_state';
type Kept = Readonly<Record<string, PodStatus>>;

interface AgentDeps {
  readonly clock: FakeClock;
  readonly cri: Cri;
  readonly disk: SimDisk;
  readonly storage: Storage;
  readonly driver: SimDriver;
  readonly seed: number;
  readonly watch: BorderWatch;
  readonly diskDelayMs: () => number;
  readonly note: (line: string) => void;
  readonly removeCgroup: (uid: string) => void;
  /** What a source names now. */
  readonly pods: (source: PodSource) => readonly DesiredPod[];
  readonly onStatus: (uid: PodUid, status: PodStatus) => void;
  readonly isDeaf: () => boolean;
  readonly onDeath: () => void;
}

/**
 * The agent's process as its supervisor sees it.
 *
 *   down ──begin──> starting ──> up ──> spoken (its source has told the manifests)
 *    ^ └─────────────────┴───────┴────────┘ stop, kill, failed start; begins again after a while
 */
export class Agent {
  readonly log = new MemoryLog();
  /** When it was killed. */
  readonly deaths: number[] = [];
  /** The newest status that this life has told of each pod; what it only remembers of the life before is not there. */
  readonly announced = new Map<PodUid, PodStatus>();
  readonly #deps: AgentDeps;
  #lives = 0;
  #life: Life | undefined;
  #machine: PodWorld | undefined;
  #runner: ComponentRunner | undefined;
  #state: 'down' | 'starting' | 'up' | 'stopping' = 'down';
  #spokenAt: number | undefined;

  constructor(deps: AgentDeps) {
    this.#deps = deps;
  }

  get state(): 'down' | 'starting' | 'up' | 'stopping' {
    return this.#state;
  }

  get life(): Life | undefined {
    return this.#life;
  }

  /** Which life this is, counted from one. */
  get lives(): number {
    return this.#lives;
  }

  /** What the agent thinks, while there is one. */
  get machine(): PodWorld | undefined {
    return this.#machine;
  }

  /** When the source spoke first in this life; nothing while it has not, or while there is no agent. */
  get spokenAt(): number | undefined {
    return this.#state === 'up' ? this.#spokenAt : undefined;
  }

  /** Whether the source has spoken in this life, also while it ends. */
  get heard(): boolean {
    return this.#spokenAt !== undefined;
  }

  /** Starts a new life. The source speaks so much later than the components have started. */
  begin(silentMs = 0): void {
    if (this.#state !== 'down') return;
    const { clock, cri, disk, storage, driver, seed, watch, diskDelayMs, note, removeCgroup } = this.#deps;
    const number = ++this.#lives;
    const life = new Life({
      clock,
      diskDelayMs,
      isDeaf: this.#deps.isDeaf,
      watch: {
        ...watch,
        died: () => {
          watch.died();
          this.#died('its fuse burnt down', 2_000);
        },
      },
    });
    const ownFiles = life.files(disk);
    const signals = createSignals(this.log);
    const machine: PodWorld = createPodWorld({
      signals,
      heartbeats: new Heartbeats(),
      clock: life.clock,
      random: seededRandom(seed * 1_000 + number),
      log: this.log,
      cri: life.cri(cri),
      files: ownFiles,
      volumeHost: life.volumeHost(simVolumeHost(disk)),
      mountPrograms: life.mountPrograms(simMountPrograms(disk, storage.sources)),
      volumesCluster: {
        api: {
          get: (resource, object) => life.through('get', object.name, () => storage.claims.get(resource, object)),
          patch: () => Promise.reject(new Error('no claim grows')),
        },
        node: { get: () => undefined, listen: () => {} },
        drivers: {
          synced: () => true,
          get: ({ name }) => (name === csiDriver ? simDriverObject : undefined),
          listen: () => {},
        },
        claimEvents: { record: () => {} },
        nodeLabels: () => ({}),
      },
      storage: { drivers: driver.found(life), files: life.csiFiles(disk), devices: noDevices, hasSeLinux: false },
      cgroups: { ...wholeCgroups, remove: (uid) => life.through('removeCgroup', uid, async () => removeCgroup(uid)) },
      events: { record: () => {} },
      decisions: new FlightRecorder({ clock: life.clock, removal: signals.podRemoval }),
      settings: testSettings,
      node: testNode,
      admissionNode: () => anAdmissionNode(),
      hostIps: () => ['192.0.2.1'],
      hostDns: async () => ({ servers: ['192.0.2.53'], searches: [], options: [] }),
      runtimeName: () => 'fake',
      sources,
      resyncMs,
      onStatus: (uid, status) => {
        if (life.dead) return;
        this.announced.set(uid, status);
        this.#deps.onStatus(uid, status);
      },
    });
    const checkpoint = this.#checkpoint(machine, life, ownFiles);
    for (const news of [signals.statusChanged, signals.statusForgotten]) {
      news.listen(() => {
        if (!life.dead) checkpoint.changed();
      });
    }
    this.#life = life;
    this.#machine = machine;
    this.#runner = new ComponentRunner({ clock: life.clock, log: this.log, stopMs: 10_000 });
    this.#state = 'starting';
    this.#spokenAt = undefined;
    this.announced.clear();
    note(`agent ${number} starts`);
    void this.#start(this.#runner, machine, checkpoint, life, silentMs);
  }

  /** Ends it in good order; pods go on. */
  stop(downMs: number): void {
    const { clock, note } = this.#deps;
    const [runner, life] = [this.#runner, this.#life];
    if (this.#state !== 'up' || runner === undefined || life === undefined) return;
    this.#state = 'stopping';
    note(`agent ${this.#lives} is told to stop`);
    void runner.stop().then(() => {
      if (life.dead) return;
      note(`agent ${this.#lives} has stopped`);
      this.#over();
      if (Number.isFinite(downMs)) clock.after(downMs, () => this.begin());
    });
  }

  kill(how: 'cut' | 'linger', downMs: number, silentMs = 0): void {
    if (this.#state === 'down') return;
    this.#life?.die(how);
    this.#died(`kill -9, calls ${how}`, downMs, silentMs);
  }

  /** A storage driver has registered. */
  driverCame(): void {
    if (this.#state === 'up') this.#machine?.signals.driverChanged.broadcast(csiDriver);
  }

  /** The manifests folder changed. */
  tell(): void {
    if (this.spokenAt !== undefined) this.#speak();
  }

  async #start(
    runner: ComponentRunner,
    machine: PodWorld,
    checkpoint: CheckpointFile<Kept>,
    life: Life,
    silentMs: number,
  ): Promise<void> {
    const { clock, note } = this.#deps;
    try {
      const kept = (await checkpoint.load()) ?? {};
      machine.statuses.restore(Object.entries(kept).map(([uid, status]) => [podUid(uid), status] as const));
      await runner.start([checkpoint, ...machine.components], new AbortController().signal);
    } catch {
      note(`agent ${this.#lives} failed to start`);
      life.die('cut');
      this.#over();
      clock.after(startAgainMs, () => this.begin());
      return;
    }
    this.#state = 'up';
    // A timer of this life: a source that dies with the agent says nothing.
    life.clock.after(silentMs, () => {
      if (this.#state !== 'up') return;
      note(`agent ${this.#lives} hears its source`);
      this.#spokenAt = clock.monotonic();
      this.#speak();
    });
  }

  /** The statuses on disk, as the program keeps them: written a second after a change, and at the stop. */
  #checkpoint({ statuses, desired, lifecycles }: PodWorld, life: Life, files: Files): CheckpointFile<Kept> {
    return new CheckpointFile<Kept>('status-checkpoint', {
      clock: life.clock,
      log: this.log,
      disk: {
        read: (path) => files.readText(path),
        replace: (path, text) => life.through('writeFile', path, () => this.#deps.disk.replaceFile(path, text, 0o600)),
        putAside: (path) => files.removeTree(path),
      },
      path: checkpointPath,
      version: 1,
      content: () =>
        Object.fromEntries(
          [...statuses.all()].filter(([uid]) => desired.has(uid) && !lifecycles.isRemovedFromSource(uid)),
        ),
    });
  }

  #speak(): void {
    this.#machine?.setObjects(this.#deps.storage.objects());
    for (const source of sources) this.#machine?.set(source, this.#deps.pods(source));
  }

  #died(why: string, downMs: number, silentMs = 0): void {
    this.#deps.note(`agent ${this.#lives} is dead: ${why}`);
    this.deaths.push(this.#deps.clock.monotonic());
    this.#deps.onDeath();
    this.#over();
    this.#deps.clock.after(downMs, () => this.begin(silentMs));
  }

  #over(): void {
    this.#life?.die('cut');
    this.#state = 'down';
    this.#spokenAt = undefined;
    this.#machine = undefined;
    this.#runner = undefined;
  }
}
