import type { Server, Socket } from 'node:net';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { addressKey } from '../address-key.ts';
import { ConnectionShares } from './connection-shares.ts';
import type { ServerLimits } from './limits.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { TrackedConnection } from './tracked-connection.ts';
import { chooseUnfinished } from './unfinished-bytes.ts';

interface OpenConnectionsDeps {
  readonly listener: string;
  readonly clock: Pick<Clock, 'after' | 'monotonic'>;
  readonly log: Log;
  readonly limits: ServerLimits;
}

/**
 * The connections of one server: none of them can bring the agent down, all of them end with it, and those of which it
 * is not known who is at their other end share what they may use up.
 *
 *   accepted ──a turn later──> counted by address and stage ──authenticated──> counted by caller
 *                                 └──too many, too many bytes, too late──> ended
 *
 * A turn of the event loop passes before a new connection counts, so that it has been read once before it can be the
 * oldest: hundreds may be accepted in one turn, and a good client among them has sent its request along.
 */
export class OpenConnections {
  readonly #deps: OpenConnectionsDeps;
  readonly #bySocket = new Map<Socket, TrackedConnection>();
  readonly #byEnds = new Map<string, TrackedConnection>();
  readonly #shares: ConnectionShares<TrackedConnection>;
  readonly #authenticated: ConcurrencyLimit;
  #arrived = new Set<TrackedConnection>();
  #isTurnAwaited = false;
  #cancelSweep: CancelTimer | undefined;

  constructor(deps: OpenConnectionsDeps) {
    this.#deps = deps;
    const { unauthenticatedConnections, authenticatedConnections } = deps.limits;
    this.#shares = new ConnectionShares(unauthenticatedConnections);
    this.#authenticated = new ConcurrencyLimit(authenticatedConnections.inAll, authenticatedConnections.each);
  }

  get count(): number {
    return this.#bySocket.size;
  }

  /** To be called before others listen to the server: their listeners may ask for the connection at once. */
  follow(server: Server): void {
    const { unauthenticatedConnections, authenticatedConnections, newConnections } = this.#deps.limits;
    // Never reached unless this class fails: what is over is ended before.
    server.maxConnections = unauthenticatedConnections.inAll + authenticatedConnections.inAll + 2 * newConnections;
    server.prependListener('connection', (socket: Socket) => this.#accept(socket));
    server.on('close', () => this.#cancelSweep?.());
  }

  /** By the socket that was accepted, or by the one that TLS has put around it. */
  of(socket: Socket): TrackedConnection | undefined {
    const ends = endsOf(socket);
    return this.#bySocket.get(socket) ?? (ends === undefined ? undefined : this.#byEnds.get(ends));
  }

  /** Takes no more connections, lets what is being written now go out, and ends the others. */
  async close(server: Server): Promise<void> {
    this.#cancelSweep?.();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      setImmediate(() => {
        for (const socket of this.#bySocket.keys()) socket.destroy();
      });
    });
  }

  #accept(socket: Socket): void {
    const { clock, limits } = this.#deps;
    // An error is followed by the close, and the close is what counts; without a listener it would end the agent.
    socket.on('error', () => {});
    const ends = endsOf(socket);
    const address = addressKey(socket.remoteAddress ?? '');
    const connection = new TrackedConnection(socket, address, clock.monotonic(), {
      stageChanged: (stage) => this.#shares.move(address, connection, stage),
      authenticate: (name) => this.#authenticate(connection, name),
    });
    this.#bySocket.set(socket, connection);
    if (ends !== undefined) this.#byEnds.set(ends, connection);
    socket.once('close', () => {
      this.#bySocket.delete(socket);
      if (ends !== undefined) this.#byEnds.delete(ends);
      this.#arrived.delete(connection);
      this.#shares.remove(address, connection);
      connection.closed();
    });
    this.#arrived.add(connection);
    const [first] = this.#arrived;
    if (this.#arrived.size > limits.newConnections && first !== undefined) this.#end(first, 'too many new connections');
    this.#awaitTurn();
    this.#cancelSweep ??= clock.after(limits.sweepMs, this.#sweep);
  }

  #authenticate(connection: TrackedConnection, name: string): (() => void) | undefined {
    const leave = this.#authenticated.enter(name);
    if (leave === undefined) return undefined;
    this.#arrived.delete(connection);
    this.#shares.remove(connection.address, connection);
    return leave;
  }

  /** The end of this turn, in which they were accepted, and of the next, in which they are read. */
  #awaitTurn(): void {
    if (this.#isTurnAwaited) return;
    this.#isTurnAwaited = true;
    setImmediate(() => {
      const ripe = this.#arrived;
      this.#arrived = new Set();
      setImmediate(() => {
        this.#isTurnAwaited = false;
        for (const connection of ripe) {
          if (connection.isOpen && !connection.isAuthenticated)
            this.#shares.add(connection.address, connection.stage, connection);
        }
        this.#endExcess();
        if (this.#arrived.size > 0) this.#awaitTurn();
      });
    });
  }

  #endExcess(): void {
    for (let excess = this.#shares.excess(); excess !== undefined; excess = this.#shares.excess()) {
      // Its close comes later.
      this.#shares.remove(excess.connection.address, excess.connection);
      this.#end(excess.connection, excess.reason);
    }
  }

  readonly #sweep = (): void => {
    const { clock, limits } = this.#deps;
    const now = clock.monotonic();
    const unauthenticated = [...this.#bySocket.values()].filter(({ isAuthenticated }) => !isAuthenticated);
    this.#cancelSweep = unauthenticated.length === 0 ? undefined : clock.after(limits.sweepMs, this.#sweep);
    for (const connection of unauthenticated) {
      const { stage, acceptedAtMs } = connection;
      const isLate = stage !== 'asked' && now - acceptedAtMs > limits.firstRequestMs;
      if (isLate) this.#end(connection, 'no request in time');
    }
    const counted = unauthenticated
      .filter(({ isOpen }) => isOpen)
      .map((connection) => ({ connection, address: connection.address, bytes: connection.unfinishedBytes }));
    for (const { connection, reason } of chooseUnfinished(counted, limits.unfinished)) this.#end(connection, reason);
  };

  #end(connection: TrackedConnection, reason: string): void {
    const { log, listener } = this.#deps;
    log.debug(3, 'Connection was ended', { listener, address: connection.address, stage: connection.stage, reason });
    connection.end();
  }
}

/** Both ends of a connection, which no two connections share; undefined once it is closed. TLS has those of the socket below. */
function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string | undefined {
  return remotePort === undefined ? undefined : `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
