import type { Clock } from '../base/clock.ts';
import { isKind, TubeletError } from '../base/errors.ts';

interface Closable {
  /** Resolves at its end. */
  readonly closed: Promise<unknown>;
  close(): void;
}

interface KeptOptions<C> {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly dial: () => Promise<C>;
}

const maxTries = 5;
const firstPauseMs = 100;

/** A connection that is made at the first use, kept, and made again at the next use after it was lost. */
export class KeptConnection<C extends Closable> {
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #dial: () => Promise<C>;
  #connection: Promise<C> | undefined;
  #closed = false;

  constructor({ clock, dial }: KeptOptions<C>) {
    this.#clock = clock;
    this.#dial = dial;
  }

  /**
   * Works with the other side. Work that ends because the connection is lost, or that cannot begin without one, is begun
   * again, a few times and after growing pauses: it has to be harmless when it was done already.
   */
  async use<T>(work: (connection: C) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await work(await this.get());
      } catch (error) {
        if (!isKind(error, 'unavailable') || tries === maxTries) throw error;
      }
      await this.#clock.sleep(firstPauseMs * 2 ** (tries - 1));
    }
  }

  /** The connection that stands, or a new one. */
  get(): Promise<C> {
    if (this.#closed) return Promise.reject(new TubeletError('cancelled', 'the agent no longer talks to D-Bus'));
    this.#connection ??= this.#open();
    return this.#connection;
  }

  /** No connection from now on; one that is being made is closed as soon as it stands. */
  close(): void {
    this.#closed = true;
    this.#connection?.then(
      (connection) => connection.close(),
      () => {},
    );
  }

  async #open(): Promise<C> {
    const forget = (): void => void (this.#connection = undefined);
    try {
      const connection = await this.#dial();
      void connection.closed.then(forget);
      return connection;
    } catch (error) {
      forget();
      throw error;
    }
  }
}
