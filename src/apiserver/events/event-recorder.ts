import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { cutText, maxMessageBytes } from '../../base/cut-text.ts';
import { isKind, messageOf } from '../../base/errors.ts';
import type { Heartbeats, Round } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import { superviseLoop, type LoopHandle } from '../../base/loop.ts';
import type { Counter, Metrics } from '../../base/metrics.ts';
import { jitter, type Random } from '../../base/random.ts';
import { Wakeup } from '../../base/wakeup.ts';
import type { Event } from '../../gen/kubernetes/types.ts';
import type { ApiWriter } from '../../model/api-client.ts';
import { apiResources } from '../../model/api-resources.ts';
import { apiTime } from '../../model/api-time.ts';
import { podFields } from '../../model/pod-log.ts';
import { EventCorrelator, remember, type ObservedEvent } from './correlate.ts';

interface EventRecorderDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly metrics: Metrics;
  readonly api: Pick<ApiWriter, 'create' | 'patch'>;
  /** This node, the source of the events. */
  readonly host: string;
}

/**
 * One event as the API server has it or will have it.
 *
 *   new ──create──> stored ──patch (count)──> stored …
 *                     └──not found──> new
 */
interface EventEntry {
  readonly name: string;
  readonly namespace: string;
  readonly first: string;
  readonly observed: ObservedEvent;
  readonly message: string;
  readonly last: string;
  readonly count: number;
  readonly stored: boolean;
}

type Lost = 'spam' | 'overflow' | 'refused' | 'gaveUp';

const component = 'kubelet';
const maxWaiting = 1_000;
const maxTries = 12;
/** A container's message, with some text of ours around it. */
const maxEventBytes = maxMessageBytes + 2 * 1_024;
const flushPollMs = 20;
const retry = { firstMs: 1_000, maxMs: 30_000, jitter: 0.5 };

/**
 * Records events at the API server, without ever blocking a caller. Waiting events are merged: the same event again is
 * a higher count. Events that cannot be recorded are counted by reason, so that a reader knows that there were more.
 */
export class EventRecorder implements Component {
  readonly name = 'event-recorder';
  readonly #deps: EventRecorderDeps;
  readonly #correlator = new EventCorrelator();
  readonly #entries = new Map<string, EventEntry>();
  readonly #waiting = new Set<string>();
  readonly #wakeup = new Wakeup();
  readonly #stopped = new AbortController();
  readonly #lost: Counter<'why'>;
  #sequence = 0n;
  #sending = false;
  #tries = 0;
  #loop: LoopHandle | undefined;

  constructor(deps: EventRecorderDeps) {
    this.#deps = deps;
    this.#lost = deps.metrics.counter({
      name: 'tubelet_events_lost_total',
      help: 'Events that never reached the API server, by why.',
      labels: ['why'],
    });
  }

  async start(): Promise<void> {
    const { clock, random, log, heartbeats } = this.#deps;
    const body = (signal: AbortSignal, round: Round): Promise<void> => this.#round(signal, round);
    this.#loop = superviseLoop({ name: this.name, heartbeats, clock, random, log, signal: this.#stopped.signal, body });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop?.done;
  }

  /** Resolves when all waiting events have been sent; rejects with the signal's reason. */
  async flushed(signal: AbortSignal): Promise<void> {
    while (this.#waiting.size > 0 || this.#sending) await this.#deps.clock.sleep(flushPollMs, signal);
  }

  record({ message, ...more }: ObservedEvent): void {
    const { clock } = this.#deps;
    const observed = { ...more, message: cutText(message, maxEventBytes) };
    const correlated = this.#correlator.correlate(observed, clock.monotonic());
    if (correlated.kind === 'spam') return this.#lose('spam');
    const now = apiTime(clock.now());
    const known = this.#entries.get(correlated.key) ?? this.#newEntry(observed, now);
    remember(this.#entries, correlated.key, {
      ...known,
      observed,
      message: correlated.message,
      last: now,
      count: known.count + 1,
    });
    this.#waiting.add(correlated.key);
    const oldest = this.#waiting.size > maxWaiting ? this.#waiting.values().next() : undefined;
    if (oldest?.done === false) this.#drop(oldest.value, 'overflow');
    this.#wakeup.wake();
  }

  #newEntry(observed: ObservedEvent, now: string): EventEntry {
    // Unique among all events of one object, also over restarts: a time in nanoseconds, as far as the clock has it.
    const stamp = BigInt(Math.trunc(this.#deps.clock.now())) * 1_000_000n + (this.#sequence++ % 1_000_000n);
    return {
      name: `${observed.about.name ?? ''}.${stamp.toString(16)}`,
      // Events of an object without a namespace are in `default`, which always exists.
      namespace: observed.about.namespace || 'default',
      first: now,
      observed,
      message: observed.message,
      last: now,
      count: 0,
      stored: false,
    };
  }

  async #round(signal: AbortSignal, round: Round): Promise<void> {
    const next = this.#waiting.values().next();
    if (next.done === true) return round.waitFor(this.#wakeup.wait(signal));
    const key = next.value;
    const entry = this.#entries.get(key);
    if (entry === undefined) return this.#drop(key, 'overflow');
    // Removed first: an event that arrives during the request is sent by the next one.
    this.#waiting.delete(key);
    this.#sending = true;
    try {
      await this.#send(entry, signal);
      this.#tries = 0;
      const now = this.#entries.get(key);
      if (now !== undefined && !now.stored) this.#entries.set(key, { ...now, stored: true });
    } catch (error) {
      await this.#failed(key, entry, error, signal, round);
    } finally {
      this.#sending = false;
    }
  }

  async #send(entry: EventEntry, signal: AbortSignal): Promise<void> {
    // Events live for an hour; one that occurs again afterwards is created anew.
    if (entry.stored && (await this.#count(entry, signal))) return;
    try {
      const options = { lane: 'events', signal } as const;
      await this.#deps.api.create(apiResources.events, entry.namespace, this.#object(entry), options);
    } catch (error) {
      if (!isKind(error, 'alreadyExists')) throw error;
      // The answer to an earlier create was lost: the event exists in its state of then.
      await this.#count(entry, signal);
    }
  }

  /** Updates an event that exists; answers whether it exists. */
  async #count(entry: EventEntry, signal: AbortSignal): Promise<boolean> {
    const patch = { count: entry.count, lastTimestamp: entry.last, message: entry.message };
    const ref = { namespace: entry.namespace, name: entry.name };
    try {
      await this.#deps.api.patch(apiResources.events, ref, patch, { lane: 'events', signal, type: 'strategic' });
      return true;
    } catch (error) {
      if (!isKind(error, 'notFound')) throw error;
      return false;
    }
  }

  async #failed(
    key: string,
    { observed }: EventEntry,
    error: unknown,
    signal: AbortSignal,
    round: Round,
  ): Promise<void> {
    if (signal.aborted) return;
    const { clock, random, log } = this.#deps;
    const { about, reason } = observed;
    const fields = { ...(about.kind === 'Pod' && podFields(about)), reason, err: messageOf(error) };
    if (isKind(error, 'denied', 'invalid', 'notFound', 'conflict', 'unsupported')) {
      log.warn('The API server refused an event, and it is not sent again', fields);
      return this.#drop(key, 'refused');
    }
    this.#tries++;
    // An unavailable server comes back; one that rejects this event may do so for ever.
    if (this.#tries >= maxTries && !isKind(error, 'unavailable', 'timeout', 'exhausted')) {
      this.#tries = 0;
      log.warn('Giving up on an event', { ...fields, tries: maxTries });
      return this.#drop(key, 'gaveUp');
    }
    this.#waitAgain(key);
    const waitMs = Math.min(retry.firstMs * 2 ** (this.#tries - 1), retry.maxMs);
    await round.waitFor(clock.sleep(jitter(random, waitMs, retry.jitter), signal));
  }

  /** At the front, because it is the oldest. */
  #waitAgain(key: string): void {
    const others = [...this.#waiting].filter((other) => other !== key);
    this.#waiting.clear();
    for (const one of [key, ...others]) this.#waiting.add(one);
  }

  #drop(key: string, why: Lost): void {
    this.#waiting.delete(key);
    const entry = this.#entries.get(key);
    if (entry !== undefined && !entry.stored) this.#entries.delete(key);
    this.#lose(why);
  }

  #lose(why: Lost): void {
    this.#lost.inc({ why });
  }

  #object(entry: EventEntry): Event {
    const { observed, count } = entry;
    const { host } = this.#deps;
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {
        name: entry.name,
        namespace: entry.namespace,
        ...(observed.annotations && { annotations: observed.annotations }),
      },
      involvedObject: observed.about,
      reason: observed.reason,
      message: entry.message,
      type: observed.type,
      source: { component, host },
      firstTimestamp: entry.first,
      lastTimestamp: entry.last,
      count,
      reportingComponent: component,
      reportingInstance: host,
    };
  }
}
