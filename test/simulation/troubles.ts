import type { PodUid } from '../../src/base/ids.ts';
import type { FakeClock } from '../../src/testing/fake-clock.ts';
import type { Agent } from './agent.ts';

/** A checkpoint follows a change after a second; a slow or full disk takes longer. */
const checkpointLagMs = 20_000;
/** The longest that the runtime may take for a call that it does late. */
export const longestDelayMs = 8_000;
/** A changed file is looked at after a millisecond; a watch brings at once what is new. */
const reportedWithinMs = 50;

/** What is wrong with the world and for how long, and so what nobody can be blamed for. */
export class Troubles {
  readonly #clock: FakeClock;
  readonly #agent: () => Pick<Agent, 'heardAt' | 'deaths'>;
  /** Until then something may go wrong that is not the agent's fault. */
  #until = 0;
  /** Until then the API server may be unheard. */
  #silentUntil = 0;
  readonly #endings = new Set<() => void>();
  /** The runtime does not listen when a call is given up, and does late what nobody waits for any more. */
  deafUntil = 0;
  /** When the agent last removed the files of a pod. */
  readonly filesRemovedAt = new Map<PodUid, number>();
  /** When a pod that had been there before was last named again. */
  readonly broughtBackAt = new Map<PodUid, number>();

  constructor(clock: FakeClock, agent: () => Pick<Agent, 'heardAt' | 'deaths'>) {
    this.#clock = clock;
    this.#agent = agent;
  }

  /** Something is wrong for a while: `end` ends it, and its effects may be felt for `echoMs` longer. */
  begin(lastsMs: number, echoMs: number, end: () => void): void {
    const ending = (): void => {
      if (this.#endings.delete(ending)) end();
    };
    this.#endings.add(ending);
    this.#clock.after(lastsMs, ending);
    this.#until = Math.max(this.#until, this.#now() + lastsMs + echoMs);
  }

  /** The agent may not hear what the API server says, for so long. */
  silence(ms: number): void {
    this.#silentUntil = Math.max(this.#silentUntil, this.#now() + ms);
  }

  end(): void {
    for (const ending of this.#endings) ending();
  }

  /** Since when nothing has been wrong with the world and the agent has known its pods; nothing while that is not so. */
  calmSince(): number | undefined {
    const { heardAt } = this.#agent();
    return heardAt === undefined || this.#until > this.#now() ? undefined : Math.max(heardAt, this.#until);
  }

  /** Whether the agent must have heard by now what its sources said then. */
  mustKnow(saidAt: number): boolean {
    const { heardAt } = this.#agent();
    return heardAt !== undefined && this.#now() - Math.max(heardAt, saidAt, this.#silentUntil) > reportedWithinMs;
  }

  /** The agent died, and the runtime finishes for nobody what it was asked for. */
  becomesLate(): void {
    this.deafUntil = Math.max(this.deafUntil, this.#now());
  }

  /** Something may happen now that was asked for a while ago and given up since. */
  isLate(): boolean {
    return this.deafUntil + longestDelayMs > this.#now();
  }

  /**
   * A pod ended and came back under its uid, and the agent died before that was on disk: its heir remembers how the pod
   * ended, and takes it for the same.
   */
  mayHaveForgotten(uid: PodUid): boolean {
    const { deaths } = this.#agent();
    const [removedAt, broughtBackAt] = [this.filesRemovedAt.get(uid), this.broughtBackAt.get(uid)];
    const diesUnsaved = (since: number | undefined): boolean =>
      since !== undefined && deaths.some((at) => at >= since && at < since + checkpointLagMs);
    return diesUnsaved(removedAt) || diesUnsaved(broughtBackAt);
  }

  #now(): number {
    return this.#clock.monotonic();
  }
}
