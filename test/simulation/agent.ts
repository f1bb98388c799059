import { withTimeout } from '../../src/base/abort.ts';
import { TubeletError } from '../../src/base/errors.ts';
import { Heartbeats } from '../../src/base/heartbeats.ts';
import type { PodUid } from '../../src/base/ids.ts';
import type { PodStatus } from '../../src/gen/kubernetes/types.ts';
import { boot } from '../../src/main/agent/boot.ts';
import { createAgent, type AgentViews } from '../../src/main/agent/create-agent.ts';
import { ComponentRunner } from '../../src/main/component-runner.ts';
import type { PodStoreViews } from '../../src/pods/create-stores.ts';
import { nodeName, settingsOf } from '../support/agent-settings.ts';
import { Life, type BorderWatch } from './life.ts';
import { simPlatform, type SimMachine } from './sim-platform.ts';

const settings = settingsOf(['--kubeconfig=/kubeconfig']);
export const resyncMs = settings.config.syncFrequency.toMillis();
/** A supervisor starts an agent again that failed to start. */
const startAgainMs = 5_000;
/** As the program has them. */
const componentStopMs = 5_000;
const stopMs = 10_000;

interface AgentDeps {
  readonly sim: SimMachine;
  readonly watch: BorderWatch;
  readonly diskDelayMs: () => number;
  readonly note: (line: string) => void;
  readonly isDeaf: () => boolean;
  readonly onDeath: () => void;
}

/**
 * The agent's process as its supervisor sees it.
 *
 *   down ──begin──> starting ──> up
 *    ^ └─────────────────┴───────┘ stop, kill, failed start; begins again after a while
 */
export class Agent {
  /** When it was killed. */
  readonly deaths: number[] = [];
  /** The newest status that this life has reported of each pod; what it only remembers of the life before is not there. */
  readonly announced = new Map<PodUid, PodStatus>();
  readonly #deps: AgentDeps;
  #lives = 0;
  #life: Life | undefined;
  #end = new AbortController();
  #runner: ComponentRunner | undefined;
  #views: AgentViews | undefined;
  #state: 'down' | 'starting' | 'up' | 'stopping' = 'down';
  #heardAt: number | undefined;
  /** How long it shall be down after it has stopped. */
  #downMs = 0;
  heartbeats = new Heartbeats();

  constructor(deps: AgentDeps) {
    this.#deps = deps;
  }

  get log(): SimMachine['machine']['log'] {
    return this.#deps.sim.machine.log;
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

  /** What the agent shows of itself, while there is one. */
  get views(): AgentViews | undefined {
    return this.#views;
  }

  /** What the agent thinks of pods, while there is one. */
  get stores(): PodStoreViews | undefined {
    return this.#views?.stores;
  }

  /** When all sources had spoken in this life; nothing while they have not, or while there is no agent. */
  get heardAt(): number | undefined {
    if (this.#heardAt === undefined && this.stores?.sources.sourcesReady() === true) {
      this.#heardAt = this.#deps.sim.machine.clock.monotonic();
    }
    return this.#heardAt;
  }

  /** Starts a new life. */
  begin(): void {
    if (this.#state !== 'down') return;
    const { sim, watch, diskDelayMs, note } = this.#deps;
    const number = ++this.#lives;
    const life = new Life({
      clock: sim.machine.clock,
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
    this.#life = life;
    this.#end = new AbortController();
    this.#runner = new ComponentRunner({ clock: life.clock, log: this.log, stopMs: componentStopMs });
    this.#state = 'starting';
    this.#heardAt = undefined;
    this.announced.clear();
    note(`agent ${number} starts`);
    void this.#run(this.#runner, life, number, this.#end.signal);
  }

  /** Ends it in good order; pods go on. */
  stop(downMs: number): void {
    if (this.#state === 'down' || this.#state === 'stopping') return;
    const wasUp = this.#state === 'up';
    this.#state = 'stopping';
    this.#downMs = downMs;
    this.#deps.note(`agent ${this.#lives} is told to stop`);
    this.#end.abort(new TubeletError('cancelled', 'the agent ends'));
    // One that is still starting hears of it by its signal.
    if (wasUp && this.#runner !== undefined && this.#life !== undefined) void this.#leave(this.#runner, this.#life);
  }

  kill(how: 'cut' | 'linger', downMs: number): void {
    if (this.#state === 'down') return;
    this.#life?.die(how);
    this.#died(`kill -9, calls ${how}`, downMs);
  }

  /** The agent as the program starts it. */
  async #run(runner: ComponentRunner, life: Life, number: number, signal: AbortSignal): Promise<void> {
    const { sim, note } = this.#deps;
    try {
      this.heartbeats = new Heartbeats(settings.config.runtimeRequestTimeout.toMillis());
      const identity = {
        nodeName,
        heartbeats: this.heartbeats,
        lastRun: undefined,
        onServing: async () => {},
        countUnexpected: () => {},
      };
      const platform = simPlatform(sim, life, number);
      const facts = await boot(settings, platform, identity, runner, signal);
      if (life.dead) return undefined;
      const { components, views } = createAgent(settings, platform, facts, signal);
      const { stores, signals } = views;
      this.#views = views;
      signals.statusChanged.listen((uid) => {
        const status = stores.statuses.get(uid);
        if (!life.dead && status !== undefined) this.announced.set(uid, status);
      });
      await runner.start(components, signal);
    } catch {
      note(`agent ${number} failed to start`);
      if (this.#state === 'starting') this.#downMs = startAgainMs;
      return this.#leave(runner, life);
    }
    if (this.#state === 'starting') this.#state = 'up';
    else await this.#leave(runner, life);
    return undefined;
  }

  /** The components end, and then the process. */
  async #leave(runner: ComponentRunner, life: Life): Promise<void> {
    const { note, sim } = this.#deps;
    try {
      await withTimeout(life.clock, stopMs, () => runner.stop());
    } catch {
      note(`agent ${this.#lives} leaves before all has stopped`);
    }
    if (life.dead) return;
    note(`agent ${this.#lives} has stopped`);
    this.#over();
    if (Number.isFinite(this.#downMs)) sim.machine.clock.after(this.#downMs, () => this.begin());
  }

  #died(why: string, downMs: number): void {
    this.#deps.note(`agent ${this.#lives} is dead: ${why}`);
    const { clock } = this.#deps.sim.machine;
    this.deaths.push(clock.monotonic());
    this.#deps.onDeath();
    this.#over();
    clock.after(downMs, () => this.begin());
  }

  #over(): void {
    this.#life?.die('cut');
    this.#state = 'down';
    this.#heardAt = undefined;
    this.#views = undefined;
    this.#runner = undefined;
  }
}
