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
import { HintDesk } from './hint-desk.ts';
import { criHints } from './hint-streams.ts';
import type { ObservedPods } from './observed-pods.ts';
import { listRuntime, type RuntimeListing } from './list-runtime.ts';
import { plegMetrics, type PlegMetrics } from './pleg-metrics.ts';
import type { HintStream, ObservableRuntime } from './ports.ts';

interface PlegDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly runtime: ObservableRuntime;
  readonly observed: ObservedPods;
  /** A pod looks different from before: let it look again. */
  readonly onChange: (uid: PodUid) => void;
  /** The shortest time between relists; with a stream that misses nothing it grows to ten times that. */
  readonly relistPeriodMs: number;
  /** Where hints come from on a runtime without CRI events, the best first. */
  readonly otherHints?: readonly HintStream[];
  /** Pods that an earlier run of the agent may have left; asked when the runtime's list is too long for one message. */
  readonly podsOnDisk?: () => Promise<Iterable<string>>;
  readonly metrics?: Metrics;
}

/** Without a relist for this long the agent is blind, and says so. */
const relistThresholdMs = 3 * 60_000;

const longestPerShortest = 10;
/** A stream that a runtime does not have is refused within milliseconds; one that was not is there. */
const refusalMs = 1_000;
/** Relists go on meanwhile, so the runtime may take its time; but once it is back, hints should be soon. */
const reopenBackoff = { initialMs: 1_000, maxMs: 10_000 };

interface OpenStream {
  readonly openedAt: number;
  toldSomething: boolean;
}

/**
 * The pod lifecycle event generator: notices what happens in the runtime without our doing. Events are hints that make
 * it quick; the relist makes it right. It inspects no pod itself: it marks pods as changed and wakes them, and a pod's
 * own worker takes the look, so that a pod the runtime cannot tell about holds up nobody else.
 */
export class Pleg implements Component {
  readonly name = 'pleg';
  readonly #deps: PlegDeps;
  readonly #bounds: RelistBounds;
  readonly #metrics: PlegMetrics;
  readonly #desk: HintDesk;
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
    this.#bounds = { shortestMs: relistPeriodMs, longestMs: longestPerShortest * relistPeriodMs };
    this.#pace = { periodMs: relistPeriodMs, doubted: false };
    this.#metrics = plegMetrics(deps.metrics);
    const [onUnknown, onDiscard] = [() => this.#sooner.wake(), () => this.#metrics.discarded()];
    this.#desk = new HintDesk({ clock, log, runtime, observed, onChange, onUnknown, onDiscard });
  }

  /** Returns after the first relist, so that nobody decides before the runtime has been seen once. */
  async start(): Promise<void> {
    const { clock, random, log, relistPeriodMs, observed, heartbeats } = this.#deps;
    await this.#relist(this.#stopped.signal);
    observed.onInspected(() => this.#desk.rejudge());
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
    await Promise.all([this.#desk.stop(), ...this.#loops.map((loop) => loop.done)]);
  }

  /** When the last relist that succeeded began, on the monotonic clock. */
  lastRelist(): number | undefined {
    return this.#relistedAt;
  }

  /** Whether events tell of what happens, so that nobody needs to ask for it. */
  streamHealthy(): boolean {
    if (this.#stream === undefined || this.#pace.doubted) return false;
    return this.#stream.toldSomething || this.#deps.clock.monotonic() - this.#stream.openedAt >= refusalMs;
  }

  /** Why the agent does not see the runtime, in words for health checks; nothing while it does. */
  unhealthy(): string | undefined {
    if (this.#relistedAt === undefined) return 'pleg has yet to be successful';
    const age = this.#deps.clock.monotonic() - this.#relistedAt;
    if (age <= relistThresholdMs) return undefined;
    const [seen, threshold] = [age, relistThresholdMs].map((ms) => Duration.ofMillis(Math.round(ms)).toString());
    return `pleg was last seen active ${seen} ago; threshold is ${threshold}`;
  }

  /** What is due may change while it waits: hints that need a relist and a stream that ends bring it forward. */
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
    const { shortestMs } = this.#bounds;
    const regular = this.#endedAt + this.#pace.periodMs;
    const waiting = this.#desk.waitingSince();
    if (waiting === undefined) return regular;
    return Math.min(regular, Math.max(waiting, this.#endedAt) + shortestMs);
  }

  async #relist(signal: AbortSignal, onStep?: () => void): Promise<void> {
    const { clock } = this.#deps;
    const began = clock.monotonic();
    if (this.#relistedAt !== undefined) this.#metrics.began((began - this.#relistedAt) / 1_000);
    try {
      await this.#relistSince(began, signal, onStep);
    } catch (error) {
      this.#pace = { ...this.#pace, periodMs: this.#bounds.shortestMs };
      throw error;
    } finally {
      this.#endedAt = clock.monotonic();
      this.#metrics.took((this.#endedAt - began) / 1_000);
    }
  }

  async #relistSince(began: number, signal: AbortSignal, onStep?: () => void): Promise<void> {
    const { clock, observed, onChange } = this.#deps;
    const moment = observed.begin();
    const turn = this.#desk.turn();
    const wall = clock.now();
    const { listing: after, byPod } = await this.#list(signal, onStep);
    const before = observed.listed();
    const changed = diffListing(before, after);
    // A pod that was looked at meanwhile may have been seen later than the listing: that says nothing of the stream.
    const looked = (uid: PodUid): boolean => (observed.get(uid)?.observedAt ?? 0) > moment;
    const missed = changed.some((uid) => !looked(uid) && !this.#desk.hasTold(uid, before.get(uid), after.get(uid)));
    this.#audit(missed);
    observed.relisted(moment, after, changed, byPod === undefined);
    this.#desk.relisted(turn);
    this.#relistedAt = began;
    this.#metrics.seen(Math.floor(wall / 1_000));
    for (const uid of changed) onChange(uid);
  }

  /** What the relist that ends now says of the stream. */
  #audit(missed: boolean): void {
    const opened = this.#stream?.openedAt;
    const covered = opened !== undefined && this.#relistedAt !== undefined && opened < this.#relistedAt;
    const outcome = { covered, told: this.#desk.toldAnything, missed };
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
    const { runtime, otherHints = [], log, clock } = this.#deps;
    await followEvents({
      streams: [criHints(runtime), ...otherHints],
      log,
      clock,
      signal,
      onOpen: () => {
        this.#stream = { openedAt: clock.monotonic(), toldSomething: false };
      },
      onHint: (hint) => {
        if (this.#stream?.toldSomething === false) this.#metrics.connected();
        if (this.#stream !== undefined) this.#stream.toldSomething = true;
        if (hint.at !== undefined) this.#metrics.heard(Math.max(0, clock.now() - hint.at) / 1_000);
        this.#desk.take(hint);
      },
      onClose: (error) => {
        // One that told nothing for so long was there all the same.
        if (this.#stream?.toldSomething === false && this.streamHealthy()) this.#metrics.connected();
        // Going without a stream that the runtime does not have is no failure, nor is our own end.
        if (error !== undefined && !signal.aborted && !isKind(error, 'unsupported')) this.#metrics.broke();
        this.#stream = undefined;
        this.#pace = { ...this.#pace, periodMs: this.#bounds.shortestMs };
        this.#sooner.wake();
      },
    });
  }
}
