import type { CancelTimer, Clock } from './clock.ts';
import type { Component } from './component.ts';
import { jitter, type Random } from './random.ts';

/** Counts what work queues do, for metrics. */
export interface WorkQueueMetrics {
  /** Adds a queue of that name; `depth` is called when the metrics are read. */
  queue(name: string, depth: () => number): QueueMetrics;
}

interface QueueMetrics {
  added(): void;
  /** A round begins for a key that waited this long; the returned function is to be called when it ends. */
  began(waitedMs: number): () => void;
  retried(): void;
}

interface KeyedWorkDeps<K> {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  /** How many keys are worked on at a time. */
  readonly parallel: number;
  /** Reads what is to be done for a key and does it. A number that it returns is `requeueAfterMs`. */
  readonly work: (key: K, signal: AbortSignal) => Promise<number | void>;
  /** A round that threw; it is tried again after `retryMs`. */
  readonly onError: (key: K, error: unknown, retryMs: number) => void;
  readonly backoff?: { readonly initialMs: number; readonly maxMs: number };
  readonly watch?: WorkQueueMetrics | undefined;
}

const defaultBackoff = { initialMs: 500, maxMs: 30_000 };
const jitterFraction = 0.2;

/**
 * Level-triggered work, one piece at a time per key. A wake says only that a key may need to be reconciled; wakes that
 * come during a round cause one more round. A key that fails backs off alone; others are not held up by it.
 *
 *            ┌───────wake──────┐                 ┌── wake: marked, one more round ──┐
 *            v                 │                 v                                  │
 *   idle ──wake──> queued ──turn──> working ──ok──> idle (or: requeued) ────────────┘
 *                     ^                │
 *                     └── timer, wake ─┴─throws─> backing off
 */
export class KeyedWork<K> implements Component {
  readonly name: string;
  readonly #deps: KeyedWorkDeps<K>;
  /** What waits for its turn, in order, and since when. */
  readonly #queue = new Map<K, number>();
  readonly #watch: QueueMetrics | undefined;
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

  /** Reconciles the key soon. A key that backs off keeps its delay, because what made it fail may still be there. */
  wake(key: K): void {
    if (this.#stopped.signal.aborted) return;
    if (this.#failures.has(key) && this.#timers.has(key)) return;
    this.#enqueue(key);
  }

  /** Retries all keys that back off at once, because what made them fail is known to have changed. */
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
      const requeueAfterMs = await work(key, this.#stopped.signal);
      this.#failures.delete(key);
      if (requeueAfterMs !== undefined) this.#requeue(key, requeueAfterMs);
    } catch (error) {
      if (!this.#stopped.signal.aborted) {
        const failures = (this.#failures.get(key) ?? 0) + 1;
        this.#failures.set(key, failures);
        const { initialMs, maxMs } = this.#deps.backoff ?? defaultBackoff;
        const retryMs = jitter(random, Math.min(initialMs * 2 ** (failures - 1), maxMs), jitterFraction);
        // A wake that came during the round waits for the back-off too.
        this.#queue.delete(key);
        this.#requeue(key, retryMs);
        this.#watch?.retried();
        onError(key, error, retryMs);
      }
    } finally {
      this.#working.delete(key);
      ended?.();
      this.#turn();
    }
  }

  #requeue(key: K, ms: number): void {
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
