import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import type { Message } from './message.ts';

interface Waiter {
  readonly resolve: (result: string) => void;
  readonly reject: (error: Error) => void;
}

/** Results that came before the answer that names their job. */
const maxEarly = 1_024;

/** How systemd's jobs ended, by their object path. */
export class JobResults {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #waiting = new Map<string, Set<Waiter>>();
  readonly #early = new Map<string, string>();
  /** Calls under way whose answer will name a job. */
  #asking = 0;
  #lost: Error | undefined;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** Takes JobRemoved(u id, o job, s unit, s result). */
  note(message: Message): void {
    if (message.signature !== 'uoss') return;
    const [, job, , result] = message.body() as readonly [number, string, string, string];
    const waiting = this.#waiting.get(job);
    for (const { resolve } of waiting ?? []) resolve(result);
    if (waiting === undefined && this.#asking > 0 && this.#early.size < maxEarly) this.#early.set(job, result);
  }

  /** No signal will come any more. */
  lose(error: Error): void {
    this.#lost = error;
    for (const waiters of this.#waiting.values()) for (const { reject } of waiters) reject(error);
  }

  /** The result of the job that a call begins; rejects with `timeout`, or with what ended the connection. */
  async of(begin: () => Promise<string>, timeoutMs: number): Promise<string> {
    this.#asking++;
    try {
      const job = await begin();
      const early = this.#early.get(job);
      if (early !== undefined) return early;
      if (this.#lost !== undefined) throw this.#lost;
      return this.#wait(job, timeoutMs);
    } finally {
      this.#asking--;
      if (this.#asking === 0) this.#early.clear();
    }
  }

  #wait(job: string, timeoutMs: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const waiters = this.#waiting.get(job) ?? new Set();
      this.#waiting.set(job, waiters);
      const end = (): void => {
        cancel();
        waiters.delete(waiter);
        if (waiters.size === 0) this.#waiting.delete(job);
      };
      const cancel = this.#clock.after(timeoutMs, () => {
        end();
        reject(new TubeletError('timeout', `the job did not end within ${timeoutMs} ms`));
      });
      const waiter: Waiter = {
        resolve: (result) => {
          end();
          resolve(result);
        },
        reject: (error) => {
          end();
          reject(error);
        },
      };
      waiters.add(waiter);
    });
  }
}
