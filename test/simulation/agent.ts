import type { FakeClock } from '../../src/testing/fake-clock.ts';
import type { Cri } from '../../src/cri/index.ts';
import { ComponentRunner } from '../../src/main/component-runner.ts';
import { wirePodMachine, type PodMachine } from '../../src/main/wire/pod-machine.ts';
import type { DesiredPod } from '../../src/model/desired-pod.ts';
import type { Files } from '../../src/pods/directories/index.ts';
import { MemoryLog } from '../../src/testing/memory-log.ts';
import { anAdmissionNode } from '../../src/testing/admission-node.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { testNode, testSettings } from '../support/agent-world.ts';
import { Life, type BorderWatch } from './life.ts';

export const resyncMs = 60_000;
/** A supervisor starts an agent again that failed to start. */
const startAgainMs = 5_000;

export interface AgentDeps {
  readonly clock: FakeClock;
  readonly cri: Cri;
  readonly files: Files;
  readonly seed: number;
  readonly watch: BorderWatch;
  readonly diskDelayMs: () => number;
  readonly note: (line: string) => void;
  readonly removeCgroup: (uid: string) => void;
  readonly manifests: () => readonly DesiredPod[];
}

/**
 * The agent's process as its supervisor sees it.
 *
 *   down ──begin──> starting ──> up ──> spoken (its source has told the manifests)
 *    ^ └─────────────────┴───────┴────────┘ stop, kill, failed start; begins again after a while
 */
export class Agent {
  readonly log = new MemoryLog();
  readonly #deps: AgentDeps;
  #lives = 0;
  #life: Life | undefined;
  #machine: PodMachine | undefined;
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
  get machine(): PodMachine | undefined {
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
    const { clock, cri, files, seed, watch, diskDelayMs, note, removeCgroup } = this.#deps;
    const number = ++this.#lives;
    const life = new Life({
      clock,
      diskDelayMs,
      watch: { ...watch, died: () => this.#died('its fuse burnt down', 2_000) },
    });
    const machine = wirePodMachine({
      clock: life.clock,
      random: seededRandom(seed * 1_000 + number),
      log: this.log,
      cri: life.cri(cri),
      files: life.files(files),
      cgroups: { remove: (uid) => life.through('removeCgroup', uid, async () => removeCgroup(uid)) },
      events: { record: () => {} },
      settings: testSettings,
      node: testNode,
      admissionNode: () => anAdmissionNode(),
      hostIps: () => ['192.0.2.1'],
      hostDns: async () => ({ servers: ['192.0.2.53'], searches: [], options: [] }),
      runtimeName: () => 'fake',
      sources: ['file'],
      resyncMs,
      parallelPulls: 1,
    });
    this.#life = life;
    this.#machine = machine;
    this.#runner = new ComponentRunner({ clock: life.clock, log: this.log, stopMs: 10_000 });
    this.#state = 'starting';
    this.#spokenAt = undefined;
    note(`agent ${number} starts`);
    void this.#start(this.#runner, machine, life, silentMs);
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

  /** The manifests folder changed. */
  tell(): void {
    if (this.spokenAt !== undefined) this.#machine?.set('file', this.#deps.manifests());
  }

  async #start(runner: ComponentRunner, machine: PodMachine, life: Life, silentMs: number): Promise<void> {
    const { clock, note } = this.#deps;
    try {
      await runner.start(machine.components, new AbortController().signal);
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
      this.#machine?.set('file', this.#deps.manifests());
    });
  }

  #died(why: string, downMs: number, silentMs = 0): void {
    this.#deps.note(`agent ${this.#lives} is dead: ${why}`);
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
