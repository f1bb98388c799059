import { resyncMs } from './agent.ts';
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

/** A node whose time goes by under the eyes of its monitor. A broken rule ends it with a Violation. */
export class WatchedNode {
  readonly node: SimNode;
  readonly monitor: Monitor;
  readonly #name: string;

  /** The name says how to have the same run again. */
  constructor(seed: number, name: string) {
    let monitor: Monitor | undefined;
    this.#name = name;
    this.node = new SimNode(
      seed,
      (now) => new Trail(now),
      (made) => (monitor = new Monitor(made)),
    );
    if (monitor === undefined) throw new Error('the node was made without its monitor');
    this.monitor = monitor;
  }

  /** Lets time go by, and looks at everything after each timer. */
  async advance(ms: number): Promise<void> {
    const { clock } = this.node;
    const until = clock.monotonic() + ms;
    await this.#until(() => (clock.nextDue() ?? Number.POSITIVE_INFINITY) > until, ms);
    await clock.advanceTo(until);
    this.#check();
  }

  async settle(): Promise<void> {
    const left = (): readonly string[] => unsettled(this.node);
    try {
      await this.#until(() => left().length === 0, settleMs);
    } catch (error) {
      if (error instanceof Violation) throw error;
      this.fail(`not settled ${settleMs / 1_000} s after all trouble ended: ${left().join('; ')}`);
    }
    this.monitor.settled();
    this.#check();
    this.node.trail.note('settled');
  }

  /** A node that is as it should be is left alone: nothing is done, and nothing comes undone. */
  async staysQuiet(): Promise<void> {
    // Programs may still end by themselves, and dead containers are collected in rounds; then the node settles anew.
    for (let rounds = 1; ; rounds++) {
      const { changes } = this.monitor;
      await this.advance(2 * resyncMs);
      if (this.monitor.changes === changes) break;
      if (rounds === mostRounds) this.fail('the agent changes something on a node that is as it should be');
      await this.settle();
    }
    const left = unsettled(this.node);
    if (left.length > 0) this.fail(`came undone: ${left.join('; ')}`);
  }

  /** Ends the agent in good order; afterwards there is none, with nothing left of it. */
  async stop(): Promise<void> {
    const { agent, cri, clock } = this.node;
    agent.stop(Number.POSITIVE_INFINITY);
    await this.advance(0);
    const pending = agent.life?.pending();
    if (agent.state !== 'down') this.fail(`the agent does not stop: ${JSON.stringify(pending)}`);
    if (cri.events.listeners() > 0) this.fail('an event stream is left open');
    const calls = cri.calls.length;
    await this.advance(10 * resyncMs);
    if (cri.calls.length > calls) this.fail('a stopped agent calls the runtime');
    if (clock.pending() > 0) this.fail(`${clock.pending()} timers are left at the end`);
  }

  fail(rule: string): never {
    throw new Violation(this.#name, rule, this.node.trail, shownLines);
  }

  async #until(stop: () => boolean, limitMs: number): Promise<void> {
    await this.node.clock.runUntil(() => {
      this.monitor.look();
      this.#check();
      return stop();
    }, limitMs);
  }

  #check(): void {
    if (this.monitor.broken !== undefined) this.fail(this.monitor.broken);
  }
}
