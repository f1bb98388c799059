import type { Duplex } from 'node:stream';
import { raceAbort, withTimeout } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { SingleFlight } from '../../base/single-flight.ts';
import { TubeletError } from '../../base/errors.ts';
import type { ApiTransport, TlsMaterial, TlsSource, TransportAnswer, TransportRequest } from '../ports.ts';
import { Http2Session, NotSent } from './http2-session.ts';
import { abortError, networkError } from './network-error.ts';

interface Http2TransportDeps {
  readonly server: URL;
  readonly tls: TlsSource;
  readonly clock: Clock;
  readonly log: Log;
  /** Opens a connection that negotiated HTTP/2. */
  readonly connect: (material: TlsMaterial, signal: AbortSignal) => Promise<Duplex>;
}

const connectTimeoutMs = 30_000;
/** Connections that were opened later are not the ones that the caller found dead. */
const freshMs = 1_000;
const maxResends = 3;

/**
 * HTTP/2 over TLS. Requests fill one connection before a second is opened: hundreds of watches share a few, and no
 * request waits for a free stream. New certificates mean new connections, while the old ones finish their streams.
 */
export class Http2Transport implements ApiTransport {
  readonly #deps: Http2TransportDeps;
  readonly #sessions = new Set<Http2Session>();
  readonly #opening = new SingleFlight<string, void>();
  readonly #closing = new AbortController();

  constructor(deps: Http2TransportDeps) {
    this.#deps = deps;
  }

  /** For tests and metrics. */
  get connections(): number {
    return this.#sessions.size;
  }

  async send(request: TransportRequest): Promise<TransportAnswer> {
    const { signal } = request;
    for (let resends = 0; ; resends++) {
      try {
        const session = await this.#session(signal);
        return await session.send(request);
      } catch (error) {
        if (!(error instanceof NotSent) || resends >= maxResends) throw error;
      }
    }
  }

  reset(): void {
    const { clock, log } = this.#deps;
    const old = [...this.#sessions].filter((session) => session.openedAt <= clock.monotonic() - freshMs);
    if (old.length > 0) log.debug(2, 'Giving up connections to the API server', { connections: old.length });
    for (const session of old) {
      session.doubt();
      session.retire();
    }
  }

  async close(): Promise<void> {
    const why = new TubeletError('cancelled', 'the connections to the API server are being closed');
    this.#closing.abort(why);
    for (const session of this.#sessions) session.destroy(why);
  }

  /** A connection with a stream reserved for the caller. */
  async #session(signal: AbortSignal): Promise<Http2Session> {
    for (;;) {
      if (signal.aborted) throw abortError(signal);
      if (this.#closing.signal.aborted) throw abortError(this.#closing.signal);
      const material = await this.#deps.tls.current();
      const session = this.#pick(material.version);
      if (session !== undefined) return session;
      const opened = this.#opening.run(material.version, () => this.#open(material));
      try {
        await raceAbort(opened, signal);
      } catch (error) {
        if (signal.aborted) throw abortError(signal);
        throw error;
      }
    }
  }

  #pick(version: string): Http2Session | undefined {
    for (const session of this.#sessions) {
      if (session.version !== version) session.retire();
      else if (session.reserve()) return session;
    }
    return undefined;
  }

  async #open(material: TlsMaterial): Promise<void> {
    const { server, clock, connect, log } = this.#deps;
    let socket: Duplex;
    try {
      socket = await withTimeout(clock, connectTimeoutMs, (signal) => connect(material, signal), this.#closing.signal);
    } catch (error) {
      throw networkError(server.origin, error);
    }
    const session: Http2Session = new Http2Session({
      clock,
      server,
      socket,
      version: material.version,
      onClose: () => void this.#sessions.delete(session),
    });
    await session.settled();
    if (this.#closing.signal.aborted) session.destroy(abortError(this.#closing.signal));
    // A caller must not open one connection after the other to a server that closes each of them.
    if (!session.isUsable) throw new TubeletError('unavailable', `${server.origin}: the server closed the connection`);
    this.#sessions.add(session);
    log.debug(3, 'Connected to the API server', { server: server.origin, connections: this.#sessions.size });
  }
}
