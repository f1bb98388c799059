import type { Http2Session } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { ServerLimits } from './limits.ts';

interface SessionWatchDeps {
  readonly session: Http2Session;
  /** What the session runs on: a session whose last bytes the client does not take never ends by itself. */
  readonly socket: Duplex;
  readonly clock: Pick<Clock, 'after'>;
  readonly limits: Pick<ServerLimits, 'idleMs' | 'aliveMs'>;
}

/**
 * Ends HTTP/2 connections that are good for nothing any more.
 *
 *   resting ──request──> busy: the client is asked from time to time whether it is there
 *      │  ^─last one over──┘ └──no answer──> ended
 *      └───────────────────────too long───> ended
 *
 * Requests count and streams do not: the HTTP/2 library answers some by itself, and on a connection that it has given up
 * they never end. It does not notice either when a connection is reset while it writes.
 */
export class SessionWatch {
  readonly #deps: SessionWatchDeps;
  #underWay = 0;
  #isOver = false;
  #cancel: CancelTimer = () => {};

  constructor(deps: SessionWatchDeps) {
    this.#deps = deps;
    deps.socket.once('close', () => {
      this.#isOver = true;
      this.#cancel();
    });
    this.#rest();
  }

  /** A request goes on for as long as the promise, which does not reject. */
  async serve(request: Promise<void>): Promise<void> {
    if (this.#underWay++ === 0) this.#ask();
    await request;
    if (--this.#underWay === 0) this.#rest();
  }

  #rest(): void {
    this.#wait(this.#deps.limits.idleMs, this.#end);
  }

  /** Again and again, as long as each question has been answered by the time of the next. */
  #ask(isAnswered: () => boolean = () => true): void {
    const { session, limits } = this.#deps;
    this.#wait(limits.aliveMs, () => {
      if (!isAnswered() || session.destroyed) {
        this.#end();
        return;
      }
      let isThere = false;
      session.ping((error) => (isThere = error === null));
      this.#ask(() => isThere);
    });
  }

  #wait(ms: number, then: () => void): void {
    this.#cancel();
    if (!this.#isOver) this.#cancel = this.#deps.clock.after(ms, then);
  }

  readonly #end = (): void => {
    this.#deps.session.destroy();
    this.#deps.socket.destroy();
  };
}
