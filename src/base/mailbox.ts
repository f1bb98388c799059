import { InvariantError, TubeletError } from './errors.ts';
import { Wakeup } from './wakeup.ts';

/**
 * A mailbox with one slot and one taker. `put` never waits: when the slot is taken, the message is merged with the one in
 * it, so a slow taker sees fewer messages but loses nothing that the merge rule keeps.
 *
 *   empty ──put──> waiting ──put (merge)──┐
 *     ^               │  ^────────────────┘
 *     └─────take──────┘
 */
export class Mailbox<T> {
  readonly #merge: (waiting: T, next: T) => T;
  readonly #arrival = new Wakeup();
  #slot: { readonly message: T } | undefined;
  #taking = false;
  #closed = false;

  constructor(merge: (waiting: T, next: T) => T) {
    this.#merge = merge;
  }

  /** After `close` a message is dropped, because no taker will come for it. */
  put(message: T): void {
    if (this.#closed) return;
    this.#slot = { message: this.#slot === undefined ? message : this.#merge(this.#slot.message, message) };
    this.#arrival.wake();
  }

  /** The waiting message, or the next to come. An abort leaves the message where it is. */
  async take(signal: AbortSignal): Promise<T> {
    if (this.#taking) throw new InvariantError('a mailbox has one taker, and it is waiting already');
    this.#taking = true;
    try {
      for (;;) {
        signal.throwIfAborted();
        const slot = this.#slot;
        if (slot !== undefined) {
          this.#slot = undefined;
          return slot.message;
        }
        if (this.#closed) throw new TubeletError('cancelled', 'the mailbox is closed');
        await this.#arrival.wait(signal);
      }
    } finally {
      this.#taking = false;
    }
  }

  peek(): T | undefined {
    return this.#slot?.message;
  }

  /** What waits can still be taken; after that, takers are turned away. */
  close(): void {
    this.#closed = true;
    this.#arrival.wake();
  }
}
