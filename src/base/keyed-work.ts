import type { CancelTimer, Clock } from './clock.ts';
import type { Component } from './component.ts';
import { jitter, type Random } from './random.ts';

/** Told how work queues fare, for metrics. */
export interface WorkWatch {
  /** There is a queue of that name; how many keys wait in it is asked for when somebody looks. */
  queue(name: string, depth: () => number): QueueWatch;
}

interface QueueWatch {
  added(): void;
  /** A round begins for a key that waited this long; what is answered is to be called when it ends. */
  began(waitedMs: number): () => void;
  retried(): void;
}

interface KeyedWorkDeps<K> {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  /** How many keys are worked on at a time. */
  readonly parallel: number;
  /** Reads what is to be done for a key and does it. What it answers, if anything, is when to come back. */
  readonly work: (key: K, signal: AbortSignal) => Promise<number | void>;
  /** A round that threw; it is tried again after `retryMs`. */
  readonly onError: (key: K, error: unknown, retryMs: number) => void;
  readonly backoff?: { readonly initialMs: number; readonly maxMs: number };
  readonly watch?: WorkWatch | undefined;
}

const defaultBackoff = { initialMs: 500, maxMs: 30_000 };
const jitterFraction = 0.2;

/**
 * Level-triggered work, one piece at a time per key. A wake says only that a key may need a look; wakes that come while
 * it is being looked at make for one more look. A key that fails backs off alone; others are not held up by it.
 *
 *            ┌───────wake──────┐                 ┌── wake: marked, one more round ──┐
 *            v                 │                 v                                  │
 *   idle ──wake──> queued ──turn──> working ──ok──> idle (or: later, when it asks) ─┘
 *                     ^                │
 *                     └── timer, wake ─┴─throws─> backing off
 */
export class KeyedWork<K> implements Component {
  readonly name: string;
  readonly #deps: KeyedWorkDeps<K>;
  /** What waits for its turn, in order, and since when. */
  readonly #queue = new Map<K, number>();
  readonly #watch: QueueWatch | undefined;
  readonly #working = new Map<K, Promise<void>>();
  readonly #timers = new Map<K, CancelTimer>();
  readonly #failures = new Map<K, number>();
  readonly #stopped = new AbortController();
  #started = false;

  constructor(deps: KeyedWorkDeps<K>) {
    this.name = deps.name;
    this.#deps = deps;
    this.#watch = deps.watch?.queue(deps.name, () => this.#queue.size);
  }

  async start(): Promise<void> {
    this.#started = true;
    this.#turn();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#queue.clear();
    await Promise.all(this.#working.values());
  }

  /** Look at the key soon. One that backs off is not hurried: what made it fail is still there for all we know. */
  wake(key: K): void {
    if (this.#stopped.signal.aborted) return;
    if (this.#failures.has(key) && this.#timers.has(key)) return;
    this.#enqueue(key);
  }

  /** What was in the way is gone: everybody who waits for another try gets it now. */
  retryAll(): void {
    const keys = [...this.#failures.keys()];
    this.#failures.clear();
    for (const key of keys) this.#enqueue(key);
  }

  /** Nothing is queued, in hand or waiting for another try. */
  idle(): boolean {
    return this.#queue.size === 0 && this.#working.size === 0 && this.#timers.size === 0;
  }

  #enqueue(key: K): void {
    if (this.#stopped.signal.aborted) return;
    this.#timers.get(key)?.();
    this.#timers.delete(key);
    if (!this.#queue.has(key)) {
      this.#queue.set(key, this.#deps.clock.monotonic());
      this.#watch?.added();
    }
    this.#turn();
  }

  #turn(): void {
    if (!this.#started) return;
    for (const [key, since] of this.#queue) {
      if (this.#working.size >= this.#deps.parallel) return;
      if (this.#working.has(key)) continue;
      this.#queue.delete(key);
      const ended = this.#watch?.began(this.#deps.clock.monotonic() - since);
      this.#working.set(key, this.#round(key, ended));
    }
  }

  async #round(key: K, ended: (() => void) | undefined): Promise<void> {
    const { work, onError, random } = this.#deps;
    // Several wakes of one turn of the event loop are one.
    await Promise.resolve();
    try {
      const againMs = await work(key, this.#stopped.signal);
      this.#failures.delete(key);
      if (againMs !== undefined) this.#later(key, againMs);
    } catch (error) {
      if (!this.#stopped.signal.aborted) {
        const failures = (this.#failures.get(key) ?? 0) + 1;
        this.#failures.set(key, failures);
        const { initialMs, maxMs } = this.#deps.backoff ?? defaultBackoff;
        const retryMs = jitter(random, Math.min(initialMs * 2 ** (failures - 1), maxMs), jitterFraction);
        // Whoever woke it meanwhile waits for the back-off like the rest.
        this.#queue.delete(key);
        this.#later(key, retryMs);
        this.#watch?.retried();
        onError(key, error, retryMs);
      }
    } finally {
      this.#working.delete(key);
      ended?.();
      this.#turn();
    }
  }

  #later(key: K, ms: number): void {
    if (this.#stopped.signal.aborted || this.#queue.has(key)) return;
    this.#timers.get(key)?.();
    this.#timers.set(
      key,
      this.#deps.clock.after(ms, () => {
        this.#timers.delete(key);
        this.#enqueue(key);
      }),
    );
  }
}
