import { seededRandom } from '../../src/testing/seeded-random.ts';
import { resyncMs } from './agent.ts';
import { Chaos } from './chaos.ts';
import { Dice } from './dice.ts';
import { Monitor } from './monitor.ts';
import { requestMs, SimNode } from './node.ts';
import { unsettled } from './settled.ts';
import { Trail, Violation } from './trail.ts';

/**
 * Trouble is over: calls that hang end at their deadline, workers retry, crash loops wait for up to five minutes, and
 * then everything must be as it should.
 */
const settleMs = 2 * requestMs + 300_000 + 2 * resyncMs;
/** A node comes to rest within so many rounds: programs end once, and each end is followed by one collection. */
const mostRounds = 4;
const shownLines = Number(process.env['TUBELET_SIM_LINES'] ?? 60);

export interface Run {
  readonly seed: number;
  /** Every call that reached the runtime, and everything that was noted. */
  readonly lines: readonly string[];
  readonly virtualMs: number;
}

/** One run: chaos by the seed, then peace, then the end of everything. Throws a Violation. */
export async function simulate(seed: number): Promise<Run> {
  let monitor: Monitor | undefined;
  const node = new SimNode(
    seed,
    (now) => new Trail(now),
    (made) => (monitor = new Monitor(made)),
  );
  if (monitor === undefined) throw new Error('the node was made without its monitor');
  const simulation = new Simulation(seed, node, monitor);
  await simulation.run();
  const calls = node.cri.calls.map(({ verb, request, at }) => `${at} ${verb} ${JSON.stringify(request, bigints)}`);
  return { seed, lines: [...node.trail.all(), ...calls], virtualMs: node.now() };
}

class Simulation {
  readonly #seed: number;
  readonly #node: SimNode;
  readonly #monitor: Monitor;
  readonly #dice: Dice;

  constructor(seed: number, node: SimNode, monitor: Monitor) {
    this.#seed = seed;
    this.#node = node;
    this.#monitor = monitor;
    this.#dice = new Dice(seededRandom(seed));
  }

  async run(): Promise<void> {
    const { clock, agent, trail } = this.#node;
    const chaos = new Chaos(this.#node, this.#monitor.ledger, this.#dice);
    agent.begin(this.#dice.pick([0, 0, 2_000]));
    const steps = this.#dice.whole(10, 60);
    for (let step = 0; step < steps; step++) {
      chaos.step();
      await this.#advance(this.#dice.pauseMs());
    }
    this.#node.calmDown();
    await this.#settle();
    await this.#staysQuiet();
    const plans = this.#node.manifests.values();
    for (const plan of plans) {
      if (plan.pod.source === 'api') chaos.pods.delete(plan);
      else chaos.pods.remove(plan);
    }
    trail.note('--- all manifests are removed ---');
    await this.#settle();
    agent.stop(Number.POSITIVE_INFINITY);
    await this.#advance(0);
    this.#isStill();
    const calls = this.#node.cri.calls.length;
    await this.#advance(10 * resyncMs);
    if (this.#node.cri.calls.length > calls) this.#fail('a stopped agent calls the runtime');
    if (clock.pending() > 0) this.#fail(`${clock.pending()} timers are left at the end`);
  }

  /** Lets time go by, and looks at everything after each timer. */
  async #advance(ms: number): Promise<void> {
    const { clock } = this.#node;
    const until = clock.monotonic() + ms;
    await this.#until(() => (clock.nextDue() ?? Number.POSITIVE_INFINITY) > until, ms);
    await clock.advanceTo(until);
    this.#check();
  }

  async #settle(): Promise<void> {
    const left = (): readonly string[] => unsettled(this.#node);
    try {
      await this.#until(() => left().length === 0, settleMs);
    } catch (error) {
      if (error instanceof Violation) throw error;
      this.#fail(`not settled ${settleMs / 1_000} s after all trouble ended: ${left().join('; ')}`);
    }
    this.#node.trail.note('settled');
  }

  /** A node that is as it should be is left alone: nothing is done, and nothing comes undone. */
  async #staysQuiet(): Promise<void> {
    // Programs may still end by themselves, and dead containers are collected in rounds; then the node settles anew.
    for (let rounds = 1; ; rounds++) {
      const { changes } = this.#monitor;
      await this.#advance(2 * resyncMs);
      if (this.#monitor.changes === changes) break;
      if (rounds === mostRounds) this.#fail('the agent changes something on a node that is as it should be');
      await this.#settle();
    }
    const left = unsettled(this.#node);
    if (left.length > 0) this.#fail(`came undone: ${left.join('; ')}`);
  }

  #isStill(): void {
    const { agent, cri } = this.#node;
    const pending = agent.life?.pending();
    if (agent.state !== 'down') this.#fail(`the agent does not stop: ${JSON.stringify(pending)}`);
    if (cri.events.listeners() > 0) this.#fail('an event stream is left open');
  }

  async #until(stop: () => boolean, limitMs: number): Promise<void> {
    await this.#node.clock.runUntil(() => {
      this.#monitor.look();
      this.#check();
      return stop();
    }, limitMs);
  }

  #check(): void {
    if (this.#monitor.broken !== undefined) this.#fail(this.#monitor.broken);
  }

  #fail(rule: string): never {
    throw new Violation(this.#seed, rule, this.#node.trail, shownLines);
  }
}

const bigints = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
