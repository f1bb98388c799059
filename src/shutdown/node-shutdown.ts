import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import type { Heartbeats, Round } from '../base/heartbeats.ts';
import type { Log } from '../base/log.ts';
import { superviseLoop, type LoopHandle } from '../base/loop.ts';
import type { Random } from '../base/random.ts';
import { Wakeup } from '../base/wakeup.ts';
import type { Decisions } from '../model/decisions.ts';
import { podListFields } from '../model/pod-log.ts';
import { nodeEvents } from '../model/event-reasons.ts';
import { neededSeconds, type ShutdownGroup } from './compute-groups.ts';
import type { FinalFlush, Unflushed } from './final-flush.ts';
import { computePlan, type PlannedGroup } from './plan.ts';
import type { EndedGroup, PodEnding } from './pod-ending.ts';
import type { NodeEvents, ShutdownFlag, ShutdownPods } from './ports.ts';
import type { ShutdownRecord } from './shutdown-record.ts';
import { reduceShutdown, stillUp, type ShutdownEvent, type ShutdownState } from './state.ts';

interface NodeShutdownDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly decisions: Decisions;
  readonly groups: readonly ShutdownGroup[];
  readonly pods: Pick<ShutdownPods, 'activePods' | 'complete'>;
  readonly flag: ShutdownFlag;
  readonly statusDue: { mark(): void };
  readonly events: NodeEvents;
  readonly record: ShutdownRecord;
  readonly ending: PodEnding;
  readonly finalFlush: FinalFlush;
  /** Called with what happens, for the one who requested the shutdown. */
  readonly onProgress: (progress: ShutdownProgress) => void;
  /** Nothing is left to wait for: the machine may go down. */
  readonly onLetGo: () => void;
}

export type ShutdownProgress =
  | { readonly kind: 'began'; readonly plan: readonly PlannedGroup[] }
  | { readonly kind: 'groupEnded'; readonly group: EndedGroup }
  | { readonly kind: 'ended'; readonly unflushed: Unflushed }
  | { readonly kind: 'calledOff' };

/** An agent that was started while the machine goes down waits this long for its sources, to know the pods. */
const sourcesMs = 10_000;
const pollMs = 100;
const latecomersPollMs = 1_000;

interface Ending {
  readonly beganAt: number;
  readonly abort: AbortController;
}

/**
 * Takes the node through a shutdown: new pods are refused and the node is not ready from the first moment, pods end by
 * group, statuses and events are flushed to the API server, then the machine may go. `reduceShutdown` decides; a shutdown that is called off leaves
 * the pods that have not been ended.
 */
export class NodeShutdown implements Component {
  readonly name = 'node-shutdown';
  readonly #deps: NodeShutdownDeps;
  readonly #stopped = new AbortController();
  readonly #work = new Wakeup();
  #state: ShutdownState = stillUp;
  #ending: Ending | undefined;
  #loop: LoopHandle | undefined;

  constructor(deps: NodeShutdownDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    const { clock, random, log, heartbeats, record } = this.#deps;
    await record.load();
    const body = (signal: AbortSignal, round: Round): Promise<void> => this.#round(signal, round);
    this.#loop = superviseLoop({ name: this.name, heartbeats, clock, random, log, signal: this.#stopped.signal, body });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#ending?.abort.abort();
    await this.#loop?.done;
  }

  /** What would end when, if the machine went down now. */
  plan(): readonly PlannedGroup[] {
    return computePlan(this.#deps.groups, this.#deps.pods.activePods());
  }

  handle(event: ShutdownEvent): void {
    const { state, effect, reason } = reduceShutdown(this.#state, event);
    this.#state = state;
    this.#deps.log.debug(1, 'Shutdown manager heard news', { event: event.type, phase: state.phase, effect, reason });
    switch (effect) {
      case 'none':
        return;
      case 'begin':
        return this.#begin(reason);
      case 'letGo':
        return this.#deps.onLetGo();
      case 'callOff':
        return this.#callOff(reason);
      default:
        return effect satisfies never;
    }
  }

  #begin(reason: string): void {
    const { clock, log, events, flag, statusDue, decisions, onProgress } = this.#deps;
    const message = 'Shutdown manager detected shutdown event';
    log.info(message, { reason });
    // Refusing comes first, so that no pod is admitted behind the plan's back.
    flag.set(true);
    statusDue.mark();
    events.record({ type: 'Normal', reason: nodeEvents.shutdown, message });
    const plan = this.plan();
    const inputs = {
      why: reason,
      pods: plan.map(({ priority, seconds, pods }) => `${priority}: ${pods.length} in ${seconds} s`),
    };
    decisions.node({ kind: 'terminate', by: 'node-shutdown', reason: nodeEvents.shutdown, message, inputs });
    this.#ending = { beganAt: clock.monotonic(), abort: new AbortController() };
    onProgress({ kind: 'began', plan });
    this.#work.wake();
  }

  #callOff(reason: string): void {
    const { log, events, flag, statusDue, decisions, onProgress } = this.#deps;
    const message = 'Shutdown manager detected shutdown cancellation';
    log.info(message, { reason });
    this.#ending?.abort.abort();
    this.#ending = undefined;
    flag.set(false);
    statusDue.mark();
    events.record({ type: 'Normal', reason: nodeEvents.shutdown, message });
    decisions.node({
      kind: 'giveUp',
      by: 'node-shutdown',
      reason: nodeEvents.shutdown,
      message,
      inputs: { why: reason },
    });
    onProgress({ kind: 'calledOff' });
  }

  async #round(signal: AbortSignal, round: Round): Promise<void> {
    const ending = this.#ending;
    if (ending === undefined || this.#state.phase !== 'ending') return round.waitFor(this.#work.wait(signal));
    try {
      await round.waitFor(this.#end(ending));
    } catch (error) {
      if (!ending.abort.signal.aborted) throw error;
    }
  }

  async #end({ beganAt, abort: { signal } }: Ending): Promise<void> {
    const { clock, groups, record, ending, finalFlush, onProgress, log } = this.#deps;
    await record.began();
    const knewAll = await this.#podsKnown(signal);
    const asked = await ending.run(groups, (group) => onProgress({ kind: 'groupEnded', group }), signal);
    const leftMs = neededSeconds(groups) * 1_000 - (clock.monotonic() - beganAt);
    const unflushed = await finalFlush.wait(asked, leftMs, signal);
    if (unflushed.pods.length > 0 || unflushed.node) {
      log.warn('The API server does not know how pods ended, the machine goes down', {
        ...podListFields(unflushed.pods),
        node: unflushed.node,
      });
    }
    await record.ended();
    signal.throwIfAborted();
    log.info('Shutdown manager completed processing shutdown event, node will shutdown shortly');
    onProgress({ kind: 'ended', unflushed });
    this.handle({ type: 'podsEnded' });
    if (!knewAll) await this.#endLatecomers(signal);
  }

  /** Pods that were not known in time end as soon as they are, as long as the machine is still there. */
  async #endLatecomers(signal: AbortSignal): Promise<void> {
    const { clock, pods, groups, ending, log } = this.#deps;
    while (!pods.complete()) await clock.sleep(latecomersPollMs, signal);
    // What the sources named last goes through admission first.
    await clock.sleep(latecomersPollMs, signal);
    const asked = await ending.run(groups, () => {}, signal);
    if (asked.length > 0) log.info('Ended pods that were not known when the node shut down', podListFields(asked));
  }

  /** Whether all sources were read in time. */
  async #podsKnown(signal: AbortSignal): Promise<boolean> {
    const { clock, pods } = this.#deps;
    const untilMs = clock.monotonic() + sourcesMs;
    while (!pods.complete() && clock.monotonic() < untilMs) await clock.sleep(pollMs, signal);
    return pods.complete();
  }
}
