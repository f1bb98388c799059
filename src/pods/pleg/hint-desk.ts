import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import { Wakeup } from '../../base/wakeup.ts';
import { podFields } from '../../model/pod-log.ts';
import { confirmClaim, type Claim } from './confirm-hint.ts';
import type { ListedPod } from './diff-listing.ts';
import { judgeHint } from './judge-hint.ts';
import type { ObservedPods } from './observed-pods.ts';
import type { Hint, ObservableRuntime } from './ports.ts';

interface HintDeskDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly runtime: ObservableRuntime;
  readonly observed: ObservedPods;
  readonly onChange: (uid: PodUid) => void;
  /** A hint cannot be understood without a relist. */
  readonly onUnknown: () => void;
  /** A hint was dropped because too many wait. */
  readonly onDiscard: () => void;
}

/** Hints that wait for their container to become known; a relist, which needs none of them, ends the wait of all. */
const mostUnknown = 1_000;

interface Confirming {
  readonly nudge: Wakeup;
  words: number;
  done: Promise<void>;
}

interface Waiting {
  readonly hint: Hint;
  readonly since: number;
  readonly turn: number;
}

/**
 * Where hints come in. Echoes of what is known are dropped without a call; news that the runtime shows already wake
 * their pod; news ahead of the runtime are confirmed first; and what cannot be placed waits for a look or a relist.
 *
 *   hint ──known──> dropped            unknown ──look or relist──> judged again, or dropped by the relist
 *     ├──news──────────────────────────> the pod looks (once for all hints of one turn of the event loop)
 *     └──news, ahead ──confirmed──────> the pod looks
 */
export class HintDesk {
  readonly #deps: HintDeskDeps;
  readonly #stopped = new AbortController();
  readonly #unknown = new Map<string, Waiting>();
  /** Ids and uids that hints named, with the turn of the last hint, until a relist that began later has succeeded. */
  readonly #told = new Map<string, number>();
  /** Claims that are being confirmed, by id and state. */
  readonly #claims = new Map<string, Confirming>();
  #changed = new Set<PodUid>();
  #turn = 0;

  constructor(deps: HintDeskDeps) {
    this.#deps = deps;
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all([...this.#claims.values()].map(({ done }) => done));
  }

  take(hint: Hint): void {
    this.#turn++;
    for (const name of [hint.containerId, hint.uid]) if (name !== undefined) this.#told.set(name, this.#turn);
    this.#judge(hint);
  }

  /** More is known than before: hints that waited may have found their pod. */
  rejudge(): void {
    for (const [id, { hint }] of this.#unknown) {
      if (this.#deps.observed.find(id) === undefined) continue;
      this.#unknown.delete(id);
      this.#judge(hint);
    }
  }

  /** Since when a hint has been waiting for a relist, on the monotonic clock. */
  waitingSince(): number | undefined {
    const [first] = this.#unknown.values();
    return first?.since;
  }

  /** To be given to `relisted` by the relist that begins now. */
  turn(): number {
    return this.#turn;
  }

  /** Whether hints since the relist before last named the pod or anything in it. */
  hasTold(uid: PodUid, ...listed: readonly (ListedPod | undefined)[]): boolean {
    return this.#told.has(uid) || listed.some((pod) => pod?.items.some(({ id }) => this.#told.has(id)) === true);
  }

  get toldAnything(): boolean {
    return this.#told.size > 0;
  }

  /** A relist that began at that turn is done: what it did not show is none of ours, and what was told by then is past. */
  relisted(turn: number): void {
    this.rejudge();
    for (const [id, waiting] of this.#unknown) if (waiting.turn <= turn) this.#unknown.delete(id);
    for (const [name, last] of this.#told) if (last <= turn) this.#told.delete(name);
  }

  #judge(hint: Hint): void {
    const { observed } = this.#deps;
    const item = hint.containerId === undefined ? undefined : observed.find(hint.containerId);
    const verdict = judgeHint(hint, item);
    switch (verdict.type) {
      case 'known':
        return;
      case 'unknown':
        return this.#keep(verdict.id, hint);
      case 'news':
        if (hint.ahead !== true || hint.state === undefined || hint.containerId === undefined || item === undefined) {
          return this.#tell(verdict.uid);
        }
        return this.#confirm(verdict.uid, hint.containerId, hint.state, item.state.startsWith('sandbox '));
      default:
        return verdict satisfies never;
    }
  }

  #keep(id: string, hint: Hint): void {
    const { clock, onDiscard, onUnknown } = this.#deps;
    const present = this.#unknown.get(id);
    if (present === undefined && this.#unknown.size >= mostUnknown) return onDiscard();
    // The latest word of a state counts; the wait is that of the first.
    const latest = hint.state === undefined ? (present?.hint ?? hint) : hint;
    this.#unknown.set(id, { hint: latest, since: present?.since ?? clock.monotonic(), turn: this.#turn });
    if (present === undefined) onUnknown();
  }

  #confirm(uid: PodUid, id: string, state: Claim['state'], sandbox: boolean): void {
    const key = `${id} ${state}`;
    const present = this.#claims.get(key);
    if (present !== undefined) {
      present.words++;
      return present.nudge.wake();
    }
    const isKnown = (): boolean => {
      const item = this.#deps.observed.find(id);
      return judgeHint({ containerId: id, state }, item).type === 'known';
    };
    const confirming: Confirming = { nudge: new Wakeup(), words: 1, done: Promise.resolve() };
    this.#claims.set(key, confirming);
    const words = (): number => confirming.words;
    const confirmed = this.#confirmed(uid, { id, sandbox, state, isKnown, words }, confirming.nudge);
    confirming.done = confirmed.finally(() => this.#claims.delete(key));
  }

  /** Never rejects: whatever cannot be found out here, the pod's own look will meet again. */
  async #confirmed(uid: PodUid, claim: Claim, nudge: Wakeup): Promise<void> {
    const { log } = this.#deps;
    const { signal } = this.#stopped;
    const { id, sandbox, state } = claim;
    const pod = this.#deps.observed.listed().get(uid);
    const named = { ...podFields({ uid, ...pod }), [sandbox ? 'podSandboxID' : 'containerID']: id };
    try {
      const outcome = await confirmClaim(this.#deps, claim, nudge, signal);
      if (outcome === 'unclear') log.debug(2, 'The runtime does not show what its events told', { ...named, state });
      if (outcome !== 'known') this.#tell(uid);
    } catch (error) {
      if (signal.aborted) return;
      log.debug(2, 'The runtime does not say what became of a container', { ...named, state, err: messageOf(error) });
      this.#tell(uid);
    }
  }

  /** Many things happen to a pod at once when it ends; it is woken once for all that one turn of the event loop brought. */
  #tell(uid: PodUid): void {
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
