import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import { Wakeup } from '../../base/wakeup.ts';
import { podFields } from '../../model/pod-log.ts';
import { confirmClaim, type Claim } from './confirm-event.ts';
import type { ListedPod } from './diff-listing.ts';
import { classifyEvent } from './classify-event.ts';
import type { ObservedPods } from './observed-pods.ts';
import type { RuntimeEvent, ObservableRuntime } from './ports.ts';

interface EventTriageDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly runtime: ObservableRuntime;
  readonly observed: ObservedPods;
  readonly onChange: (uid: PodUid) => void;
  /** An event names a container that only a relist can find. */
  readonly onUnknown: () => void;
  /** An event was dropped because too many wait. */
  readonly onDiscard: () => void;
}

/** Events that may wait for their container to become known. A relist needs none of them and ends the wait of all. */
const maxUnknown = 1_000;

interface Confirmation {
  readonly nudge: Wakeup;
  reports: number;
  done: Promise<void>;
}

interface WaitingEvent {
  readonly event: RuntimeEvent;
  readonly since: number;
  readonly turn: number;
}

/**
 * Decides what becomes of each event. One that reports what is known is dropped without a call; news that the runtime
 * shows already wake their pod; unconfirmed news are confirmed first; an event of an unknown container waits for an
 * inspection or a relist.
 *
 *   event ──known──> dropped           unknown ──inspection or relist──> classified again, or dropped by the relist
 *     ├──news──────────────────────────> the pod is woken (once for all events of one turn of the event loop)
 *     └──news, unconfirmed ──confirmed─> the pod is woken
 */
export class EventTriage {
  readonly #deps: EventTriageDeps;
  readonly #stopped = new AbortController();
  readonly #unknown = new Map<string, WaitingEvent>();
  /** Ids and uids that events named, with the turn of the last event, until a relist that began later has succeeded. */
  readonly #named = new Map<string, number>();
  /** Claims that are being confirmed, by id and state. */
  readonly #claims = new Map<string, Confirmation>();
  #changed = new Set<PodUid>();
  #turn = 0;

  constructor(deps: EventTriageDeps) {
    this.#deps = deps;
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all([...this.#claims.values()].map(({ done }) => done));
  }

  take(event: RuntimeEvent): void {
    this.#turn++;
    for (const name of [event.containerId, event.uid]) if (name !== undefined) this.#named.set(name, this.#turn);
    this.#handle(event);
  }

  /** More is known than before: the pod of a waiting event may be known now. */
  reclassify(): void {
    for (const [id, { event }] of this.#unknown) {
      if (this.#deps.observed.find(id) === undefined) continue;
      this.#unknown.delete(id);
      this.#handle(event);
    }
  }

  /** Since when an event has been waiting for a relist, on the monotonic clock. */
  waitingSince(): number | undefined {
    const [first] = this.#unknown.values();
    return first?.since;
  }

  /** To be given to `relisted` by the relist that begins now. */
  turn(): number {
    return this.#turn;
  }

  /** Whether events since the relist before last named the pod or anything in it. */
  hadEventOf(uid: PodUid, ...listed: readonly (ListedPod | undefined)[]): boolean {
    return this.#named.has(uid) || listed.some((pod) => pod?.items.some(({ id }) => this.#named.has(id)) === true);
  }

  get hadEvents(): boolean {
    return this.#named.size > 0;
  }

  /** A relist that began at that turn is done: a container that it did not show is of no pod, and older events are past. */
  relisted(turn: number): void {
    this.reclassify();
    for (const [id, waiting] of this.#unknown) if (waiting.turn <= turn) this.#unknown.delete(id);
    for (const [name, last] of this.#named) if (last <= turn) this.#named.delete(name);
  }

  #handle(event: RuntimeEvent): void {
    const { observed } = this.#deps;
    const item = event.containerId === undefined ? undefined : observed.find(event.containerId);
    const eventClass = classifyEvent(event, item);
    switch (eventClass.type) {
      case 'known':
        return;
      case 'unknown':
        return this.#enqueue(eventClass.id, event);
      case 'news':
        if (
          event.unconfirmed !== true ||
          event.state === undefined ||
          event.containerId === undefined ||
          item === undefined
        ) {
          return this.#notify(eventClass.uid);
        }
        return this.#confirm(eventClass.uid, event.containerId, event.state, item.state.startsWith('sandbox '));
      default:
        return eventClass satisfies never;
    }
  }

  #enqueue(id: string, event: RuntimeEvent): void {
    const { clock, onDiscard, onUnknown } = this.#deps;
    const present = this.#unknown.get(id);
    if (present === undefined && this.#unknown.size >= maxUnknown) return onDiscard();
    // The latest event with a state counts; the wait is that of the first.
    const latest = event.state === undefined ? (present?.event ?? event) : event;
    this.#unknown.set(id, { event: latest, since: present?.since ?? clock.monotonic(), turn: this.#turn });
    if (present === undefined) onUnknown();
  }

  #confirm(uid: PodUid, id: string, state: Claim['state'], sandbox: boolean): void {
    const key = `${id} ${state}`;
    const present = this.#claims.get(key);
    if (present !== undefined) {
      present.reports++;
      return present.nudge.wake();
    }
    const isKnown = (): boolean => {
      const item = this.#deps.observed.find(id);
      return classifyEvent({ containerId: id, state }, item).type === 'known';
    };
    const confirmation: Confirmation = { nudge: new Wakeup(), reports: 1, done: Promise.resolve() };
    this.#claims.set(key, confirmation);
    const reports = (): number => confirmation.reports;
    const confirmed = this.#notifyConfirmed(uid, { id, sandbox, state, isKnown, reports }, confirmation.nudge);
    confirmation.done = confirmed.finally(() => this.#claims.delete(key));
  }

  /** Never rejects: a claim that cannot be confirmed wakes the pod, whose worker meets the same trouble and reports it. */
  async #notifyConfirmed(uid: PodUid, claim: Claim, nudge: Wakeup): Promise<void> {
    const { log } = this.#deps;
    const { signal } = this.#stopped;
    const { id, sandbox, state } = claim;
    const pod = this.#deps.observed.listed().get(uid);
    const named = { ...podFields({ uid, ...pod }), [sandbox ? 'podSandboxID' : 'containerID']: id };
    try {
      const outcome = await confirmClaim(this.#deps, claim, nudge, signal);
      if (outcome === 'unclear')
        log.debug(2, 'The runtime does not show what its events reported', { ...named, state });
      if (outcome !== 'known') this.#notify(uid);
    } catch (error) {
      if (signal.aborted) return;
      log.debug(2, 'The runtime does not say what became of a container', { ...named, state, err: messageOf(error) });
      this.#notify(uid);
    }
  }

  /** A pod that ends has many events at once: it is woken once for those of one turn of the event loop. */
  #notify(uid: PodUid): void {
    const { observed, onChange } = this.#deps;
    observed.markChanged(uid);
    if (this.#changed.size === 0) {
      setImmediate(() => {
        const changed = this.#changed;
        this.#changed = new Set();
        if (!this.#stopped.signal.aborted) for (const each of changed) onChange(each);
      });
    }
    this.#changed.add(uid);
  }
}
