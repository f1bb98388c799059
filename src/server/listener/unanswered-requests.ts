import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { ServerLimits } from './limits.ts';
import type { TrackedConnection } from './tracked-connection.ts';

/**
 * Ends connections that ask and do not wait for their answers: requests behind each other over HTTP/1.1, streams that are
 * opened and given up over HTTP/2. The HTTP/2 library counts resets too, but allows each connection a thousand. When
 * unauthenticated connections together ask more in one turn of the event loop than it may last, each may do less.
 */
export class UnansweredRequests {
  readonly #limits: ServerLimits['unanswered'];
  #thisTurn = 0;

  constructor(limits: ServerLimits['unanswered']) {
    this.#limits = limits;
  }

  /** Whether one more request is too many for an HTTP/1.1 connection. */
  isTooMany(connection: Pick<TrackedConnection, 'isAuthenticated' | 'underWay'> | undefined): boolean {
    if (connection === undefined) return false;
    return connection.underWay >= this.#allowed(connection);
  }

  watch(
    session: ServerHttp2Session,
    socket: Duplex,
    connection: Pick<TrackedConnection, 'isAuthenticated'> | undefined,
  ): void {
    let unanswered = 0;
    const onStream = (stream: ServerHttp2Stream): void => {
      // Of authenticated connections the HTTP/2 library limits the streams at a time.
      if (connection?.isAuthenticated === true) {
        session.off('stream', onStream);
        return;
      }
      unanswered++;
      stream.once('close', () => {
        if (stream.headersSent) unanswered--;
      });
      if (unanswered <= this.#allowed(connection)) return;
      session.destroy();
      socket.destroy();
    };
    session.on('stream', onStream);
  }

  #allowed(connection: Pick<TrackedConnection, 'isAuthenticated'> | undefined): number {
    const { usually, whenBusy, busyPerTurn } = this.#limits;
    if (connection?.isAuthenticated === true) return usually;
    if (this.#thisTurn++ === 0) setImmediate(() => (this.#thisTurn = 0));
    return this.#thisTurn > busyPerTurn ? whenBusy : usually;
  }
}
