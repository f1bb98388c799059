import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { Due } from '../../base/due.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { superviseLoop, type LoopHandle } from '../../base/loop.ts';
import type { Random } from '../../base/random.ts';
import type { Decision, Decisions } from '../../model/decisions.ts';
import { computeRuntimeFacts, type HandlerFeatures, type RuntimeFacts } from './compute-runtime-facts.ts';
import type { RuntimeStatusSource } from './ports.ts';

interface RuntimeHealthDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly runtime: RuntimeStatusSource;
  readonly decisions: Decisions;
  /** The runtime's or the network's problem has appeared, changed or ended. */
  readonly statusDue: Pick<Due, 'mark'>;
}

const periodMs = 5_000;
/** Before the runtime has once been ready, pods wait for it, so it is asked often; but not for ever. */
const fastPeriodMs = 100;
const fastForMs = 120_000;
/** Without a good answer for this long, the runtime counts as down. */
const downAfterMs = 30_000;

const unchecked = 'container runtime status check may not have completed yet';
const down = 'container runtime is down';
const networkUnknown = 'network state unknown';

/**
 *  unchecked ──good answer──> up ──30 s without one──> down ──good answer──> up
 */
export class RuntimeHealth implements Component {
  readonly name = 'runtime-health';
  readonly #deps: RuntimeHealthDeps;
  readonly #stopped = new AbortController();
  #loop: LoopHandle | undefined;
  #facts: RuntimeFacts | undefined;
  /** Monotonic time of the last answer by which the runtime was ready. */
  #readyAt: number | undefined;

  constructor(deps: RuntimeHealthDeps) {
    this.#deps = deps;
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.#check(AbortSignal.any([signal, this.#stopped.signal]));
    const { clock, random, log, heartbeats } = this.#deps;
    const fastUntil = clock.monotonic() + fastForMs;
    let wasReady = false;
    this.#loop = superviseLoop({
      name: this.name,
      heartbeats,
      clock,
      random,
      log,
      signal: this.#stopped.signal,
      body: async (loopSignal, round) => {
        wasReady ||= this.#isReady();
        const hurry = !wasReady && clock.monotonic() < fastUntil;
        await round.waitFor(clock.sleep(hurry ? fastPeriodMs : periodMs, loopSignal));
        await this.#check(loopSignal);
      },
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop?.done;
  }

  /** Why no pod can run now; empty when the runtime is healthy. */
  runtimeErrors(): readonly string[] {
    const { clock } = this.#deps;
    const ownWord = this.#facts?.runtimeError;
    const errors = ownWord === undefined ? [] : [ownWord];
    if (this.#readyAt === undefined) return [unchecked, ...errors];
    return clock.monotonic() - this.#readyAt >= downAfterMs ? [down, ...errors] : errors;
  }

  /** Why pods cannot have a network of their own now. */
  networkError(): string | undefined {
    return this.#facts === undefined ? networkUnknown : this.#facts.networkError;
  }

  /** The runtime handlers that the runtime reports by name. */
  handlers(): ReadonlySet<string> {
    return new Set([...(this.#facts?.handlers.keys() ?? [])].filter((name) => name !== ''));
  }

  handlerFeatures(name: string): HandlerFeatures | undefined {
    return this.#facts?.handlers.get(name);
  }

  features(): RuntimeFacts['features'] {
    return this.#facts?.features ?? { supplementalGroupsPolicy: false };
  }

  #isReady(): boolean {
    return this.#facts?.runtimeError === undefined && this.networkError() === undefined;
  }

  /** Asks once. A failed call is only logged: the runtime counts as down only after some time. */
  async #check(signal: AbortSignal): Promise<void> {
    const { clock, log, runtime } = this.#deps;
    try {
      this.#remember(computeRuntimeFacts(await runtime.status({ verbose: false }, { signal })));
      if (this.#facts?.runtimeError === undefined) this.#readyAt = clock.monotonic();
    } catch (error) {
      if (signal.aborted) return;
      log.error(error, 'Container runtime sanity check failed');
      this.#deps.decisions.node({
        ...decided('retry', 'RuntimeStatusFailed', messageOf(error)),
        nextTryInMs: periodMs,
      });
    }
  }

  #remember(facts: RuntimeFacts): void {
    const before = this.#facts;
    this.#facts = facts;
    const same = before?.runtimeError === facts.runtimeError && before?.networkError === facts.networkError;
    if (before !== undefined && same) return;
    const { log, statusDue, decisions } = this.#deps;
    for (const problem of [facts.runtimeError, facts.networkError]) {
      if (problem !== undefined) log.warn('Container runtime is not ready for pods', { err: problem });
    }
    if (facts.runtimeError !== undefined) decisions.node(decided('wait', 'RuntimeNotReady', facts.runtimeError));
    if (facts.networkError !== undefined) decisions.node(decided('wait', 'NetworkNotReady', facts.networkError));
    if (this.#isReady()) decisions.node(decided('start', 'RuntimeReady', 'the container runtime is ready for pods'));
    if (before !== undefined && this.#isReady()) log.info('Container runtime is ready for pods');
    statusDue.mark();
  }
}

function decided(kind: Decision['kind'], reason: string, message: string): Decision {
  return { kind, by: 'node', reason, message };
}
