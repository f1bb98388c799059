import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { Duration } from '../../base/duration.ts';
import { isKind } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import { superviseLoop, type LoopHandle } from '../../base/loop.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Random } from '../../base/random.ts';
import { Wakeup } from '../../base/wakeup.ts';
import { computeRelistPeriod, type RelistBounds, type RelistPace } from './compute-relist-period.ts';
import { diffListing } from './diff-listing.ts';
import { followEvents } from './follow-events.ts';
import { EventTriage } from './event-triage.ts';
import { criEventSource } from './event-sources.ts';
import type { ObservedPods } from './observed-pods.ts';
import { listRuntime, type RuntimeListing } from './list-runtime.ts';
import { plegMetrics, type PlegMetrics } from './pleg-metrics.ts';
import type { RuntimeEventSource, ObservableRuntime } from './ports.ts';

interface PlegDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly runtime: ObservableRuntime;
  readonly observed: ObservedPods;
  /** The runtime has a pod in another state than before: wake its worker. */
  readonly onChange: (uid: PodUid) => void;
  /** The minimum between relists; with a stream that misses nothing the period grows to ten times that. */
  readonly relistPeriodMs: number;
  /** Where events come from on a runtime without CRI events, the best first. */
  readonly eventSources: readonly RuntimeEventSource[];
  /** Pods that an earlier run of the agent may have left; asked when the runtime's list is too long for one message. */
  readonly podsOnDisk: () => Promise<Iterable<string>>;
  readonly metrics: Metrics;
}

/** Without a relist for this long the agent does not see the runtime and reports itself unhealthy. */
const relistThresholdMs = 3 * 60_000;

const maxPerMin = 10;
/** A stream that a runtime does not have is refused within milliseconds; one that was not is there. */
const refusalMs = 1_000;
/** Relists go on meanwhile, so a runtime that is away may be asked seldom; once it is back, events should come soon. */
const reopenBackoff = { initialMs: 1_000, maxMs: 10_000 };

interface OpenStream {
  readonly openedAt: number;
  hadEvent: boolean;
}

/**
 * The pod lifecycle event generator: notices changes in the runtime that the agent did not make. Events are hints that
 * make it quick; the relist makes it right. It inspects no pod itself: it marks pods as changed and wakes them, and each
 * pod's own worker inspects it, so that a pod whose calls hang in the runtime does not delay other pods.
 */
export class Pleg implements Component {
  readonly name = 'pleg';
  readonly #deps: PlegDeps;
  readonly #bounds: RelistBounds;
  readonly #metrics: PlegMetrics;
  readonly #triage: EventTriage;
  readonly #stopped = new AbortController();
  /** The relist may be due sooner than it was. */
  readonly #sooner = new Wakeup();
  #pace: RelistPace;
  /** When the last relist that succeeded began, and when the last one ended, well or not. */
  #relistedAt: number | undefined;
  #endedAt = 0;
  #stream: OpenStream | undefined;
  /** While the list is too long for one message: the pods whose own list is, too. */
  #listedByPod: string | undefined;
  #loops: readonly LoopHandle[] = [];

  constructor(deps: PlegDeps) {
    const { relistPeriodMs, clock, log, runtime, observed, onChange } = deps;
    this.#deps = deps;
    this.#bounds = { minMs: relistPeriodMs, maxMs: maxPerMin * relistPeriodMs };
    this.#pace = { periodMs: relistPeriodMs, suspect: false };
    this.#metrics = plegMetrics(deps.metrics);
    const [onUnknown, onDiscard] = [() => this.#sooner.wake(), () => this.#metrics.discarded()];
    this.#triage = new EventTriage({ clock, log, runtime, observed, onChange, onUnknown, onDiscard });
  }

  /** Returns after the first relist, so that no component decides before the runtime has been seen once. */
  async start(): Promise<void> {
    const { clock, random, log, relistPeriodMs, observed, heartbeats } = this.#deps;
    await this.#relist(this.#stopped.signal);
    observed.onInspected(() => this.#triage.reclassify());
    const common = { clock, random, log, heartbeats, signal: this.#stopped.signal };
    this.#loops = [
      superviseLoop({
        ...common,
        name: 'pleg-relist',
        carriesPods: true,
        restartBackoff: { initialMs: relistPeriodMs, maxMs: 5 * relistPeriodMs },
        body: async (signal, round) => {
          await round.waitFor(this.#untilDue(signal));
          await this.#relist(signal, () => round.beat());
        },
      }),
      superviseLoop({
        ...common,
        name: 'pleg-events',
        restartBackoff: reopenBackoff,
        body: (signal, round) => round.waitFor(this.#follow(signal)),
      }),
    ];
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all([this.#triage.stop(), ...this.#loops.map((loop) => loop.done)]);
  }

  /** When the last relist that succeeded began, on the monotonic clock. */
  lastRelist(): number | undefined {
    return this.#relistedAt;
  }

  /** Whether events report what happens, so that no component needs to poll for it. */
  streamHealthy(): boolean {
    if (this.#stream === undefined || this.#pace.suspect) return false;
    return this.#stream.hadEvent || this.#deps.clock.monotonic() - this.#stream.openedAt >= refusalMs;
  }

  /** Why the agent does not see the runtime, as health checks show it; nothing while it does. */
  unhealthy(): string | undefined {
    if (this.#relistedAt === undefined) return 'pleg has yet to be successful';
    const age = this.#deps.clock.monotonic() - this.#relistedAt;
    if (age <= relistThresholdMs) return undefined;
    const [seen, threshold] = [age, relistThresholdMs].map((ms) => Duration.ofMillis(Math.round(ms)).toString());
    return `pleg was last seen active ${seen} ago; threshold is ${threshold}`;
  }

  /** Events that need a relist, and a stream that ends, bring the next relist forward while this waits. */
  async #untilDue(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    for (;;) {
      const rest = this.#dueAt() - clock.monotonic();
      if (rest <= 0) return;
      const cancel = clock.after(rest, () => this.#sooner.wake());
      try {
        await this.#sooner.wait(signal);
      } finally {
        cancel();
      }
    }
  }

  #dueAt(): number {
    const { minMs } = this.#bounds;
    const regular = this.#endedAt + this.#pace.periodMs;
    const waiting = this.#triage.waitingSince();
    if (waiting === undefined) return regular;
    return Math.min(regular, Math.max(waiting, this.#endedAt) + minMs);
  }

  async #relist(signal: AbortSignal, onStep?: () => void): Promise<void> {
    const { clock } = this.#deps;
    const began = clock.monotonic();
    if (this.#relistedAt !== undefined) this.#metrics.began((began - this.#relistedAt) / 1_000);
    try {
      await this.#relistSince(began, signal, onStep);
    } catch (error) {
      this.#pace = { ...this.#pace, periodMs: this.#bounds.minMs };
      throw error;
    } finally {
      this.#endedAt = clock.monotonic();
      this.#metrics.took((this.#endedAt - began) / 1_000);
    }
  }

  async #relistSince(began: number, signal: AbortSignal, onStep?: () => void): Promise<void> {
    const { clock, observed, onChange } = this.#deps;
    const seq = observed.begin();
    const turn = this.#triage.turn();
    const wall = clock.now();
    const { listing: after, byPod } = await this.#list(signal, onStep);
    const before = observed.listed();
    const changed = diffListing(before, after);
    // A pod that was inspected meanwhile may have been seen later than the listing: that says nothing about the stream.
    const isNewer = (uid: PodUid): boolean => (observed.get(uid)?.observedAt ?? 0) > seq;
    const missed = changed.some(
      (uid) => !isNewer(uid) && !this.#triage.hadEventOf(uid, before.get(uid), after.get(uid)),
    );
    this.#audit(missed);
    observed.relisted(seq, after, changed, byPod === undefined);
    this.#triage.relisted(turn);
    this.#relistedAt = began;
    this.#metrics.seen(Math.floor(wall / 1_000));
    for (const uid of changed) onChange(uid);
  }

  /** What the relist that ends now says of the stream. */
  #audit(missed: boolean): void {
    const opened = this.#stream?.openedAt;
    const covered = opened !== undefined && this.#relistedAt !== undefined && opened < this.#relistedAt;
    const outcome = { covered, hadEvents: this.#triage.hadEvents, missed };
    this.#pace = computeRelistPeriod(this.#pace, outcome, this.#bounds);
  }

  async #list(signal: AbortSignal, onStep?: () => void): Promise<RuntimeListing> {
    const { runtime, observed, podsOnDisk, log } = this.#deps;
    const known = { listed: observed.listed(), onDisk: podsOnDisk, onStep };
    const listing = await listRuntime(runtime, known, signal);
    const refused = listing.byPod?.refused.toSorted().join();
    if (refused !== undefined && refused !== this.#listedByPod) {
      log.warn('The list of the runtime is too long for one message; each pod is asked for alone', {
        keptAsTheyWere: listing.byPod?.refused,
      });
    }
    this.#listedByPod = refused;
    return listing;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { runtime, eventSources, log, clock } = this.#deps;
    await followEvents({
      sources: [criEventSource(runtime), ...eventSources],
      log,
      clock,
      signal,
      onOpen: () => {
        this.#stream = { openedAt: clock.monotonic(), hadEvent: false };
      },
      onEvent: (event) => {
        if (this.#stream?.hadEvent === false) this.#metrics.connected();
        if (this.#stream !== undefined) this.#stream.hadEvent = true;
        if (event.at !== undefined) this.#metrics.arrived(Math.max(0, clock.now() - event.at) / 1_000);
        this.#triage.take(event);
      },
      onClose: (error) => {
        // A stream that was open this long without an event was a connection all the same.
        if (this.#stream?.hadEvent === false && this.streamHealthy()) this.#metrics.connected();
        // A stream that the runtime does not have is no failure, nor is the agent's own end.
        if (error !== undefined && !signal.aborted && !isKind(error, 'unsupported')) this.#metrics.broke();
        this.#stream = undefined;
        this.#pace = { ...this.#pace, periodMs: this.#bounds.minMs };
        this.#sooner.wake();
      },
    });
  }
}
