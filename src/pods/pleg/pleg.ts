import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { Duration } from '../../base/duration.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import { superviseLoop, type LoopHandle } from '../../base/loop.ts';
import type { Random } from '../../base/random.ts';
import { ListContainersRequest, ListPodSandboxRequest } from '../../gen/cri/api.ts';
import { diffListing, type Listing } from './diff-listing.ts';
import { followEvents } from './follow-events.ts';
import type { ObservedPods } from './observed-pods.ts';
import type { ObservableRuntime } from './ports.ts';
import { toListing } from './to-listing.ts';

export interface PlegDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly runtime: ObservableRuntime;
  readonly observed: ObservedPods;
  /** A pod looks different from before: let it look again. */
  readonly onChange: (uid: PodUid) => void;
  readonly relistPeriodMs: number;
}

/** Without a relist for this long the agent is blind, and says so. */
export const relistThresholdMs = 3 * 60_000;

/**
 * The pod lifecycle event generator: notices what happens in the runtime without our doing. Events are hints that make
 * it quick; the relist makes it right. It inspects nothing itself: it marks pods as changed and wakes them, and a pod's
 * own worker takes the look, so that a pod the runtime cannot tell about holds up nobody else.
 */
export class Pleg implements Component {
  readonly name = 'pleg';
  readonly #deps: PlegDeps;
  readonly #stopped = new AbortController();
  #relistedAt: number | undefined;
  #loops: readonly LoopHandle[] = [];

  constructor(deps: PlegDeps) {
    this.#deps = deps;
  }

  /** Returns after the first relist, so that nobody decides before the runtime has been seen once. */
  async start(): Promise<void> {
    const { clock, random, log, relistPeriodMs } = this.#deps;
    await this.#relist(this.#stopped.signal);
    const common = { clock, random, log, signal: this.#stopped.signal };
    this.#loops = [
      superviseLoop({
        ...common,
        name: 'pleg-relist',
        restartBackoff: { initialMs: relistPeriodMs, maxMs: 5 * relistPeriodMs },
        body: async (signal) => {
          await clock.sleep(relistPeriodMs, signal);
          await this.#relist(signal);
        },
      }),
      superviseLoop({ ...common, name: 'pleg-events', body: (signal) => this.#follow(signal) }),
    ];
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#loops.map((loop) => loop.done));
  }

  /** When the last relist that succeeded began, on the monotonic clock. */
  lastRelist(): number | undefined {
    return this.#relistedAt;
  }

  /** Why the agent does not see the runtime, in words for health checks; nothing while it does. */
  unhealthy(): string | undefined {
    if (this.#relistedAt === undefined) return 'pleg has yet to be successful';
    const age = this.#deps.clock.monotonic() - this.#relistedAt;
    if (age <= relistThresholdMs) return undefined;
    const [seen, threshold] = [age, relistThresholdMs].map((ms) => Duration.ofMillis(Math.round(ms)).toString());
    return `pleg was last seen active ${seen} ago; threshold is ${threshold}`;
  }

  async #relist(signal: AbortSignal): Promise<void> {
    const { clock, observed } = this.#deps;
    const began = clock.monotonic();
    const moment = observed.begin();
    const listing = await this.#list(signal);
    const changed = diffListing(observed.listed(), listing);
    observed.relisted(moment, listing, changed);
    this.#relistedAt = began;
    for (const uid of changed) this.#deps.onChange(uid);
  }

  async #list(signal: AbortSignal): Promise<Listing> {
    const { runtime } = this.#deps;
    const [sandboxes, containers] = await Promise.all([
      runtime.listPodSandbox(ListPodSandboxRequest.fromPartial({}), { signal }),
      runtime.listContainers(ListContainersRequest.fromPartial({}), { signal }),
    ]);
    return toListing(sandboxes.items, containers.containers);
  }

  /** Follows the event stream; each event only marks its pod as changed and wakes it. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { runtime, log, clock, observed, onChange } = this.#deps;
    const hint = (uid: PodUid): void => {
      observed.markChanged(uid);
      onChange(uid);
    };
    await followEvents({ runtime, log, clock, signal, hint });
  }
}
