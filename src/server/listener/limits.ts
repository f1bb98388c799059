/** What clients may use up. */
export interface ServerLimits {
  /** Headers of a request on a connection of which it is not known yet who is at its other end. */
  readonly headerBytes: number;
  /** The same once that is known. Over HTTP/1.1 only a certificate says so in time: see `headerBytesFor`. */
  readonly authenticatedHeaderBytes: number;
  /** Headers of a request, in number. */
  readonly headerCount: number;
  /** For the headers of a request, from its first byte or the beginning of the connection. */
  readonly headersMs: number;
  /** For a request with its body. */
  readonly requestMs: number;
  /** How often the two above are checked. */
  readonly checkMs: number;
  /** For a TLS handshake, and for its first message. */
  readonly handshakeMs: number;
  /** For the first request of a connection, with all that comes before it; it may be authenticated before. */
  readonly firstRequestMs: number;
  /** A connection without a request. */
  readonly idleMs: number;
  /** After this long an HTTP/2 client with requests is asked whether it is there, and has as long to answer. */
  readonly aliveMs: number;
  /** To find out who asks and whether that is allowed. */
  readonly accessMs: number;
  /** A client that takes nothing of what it asked for. */
  readonly stallMs: number;
  /** Connections of which it is not known who is at their other end: in all, and of one address. */
  readonly unauthenticatedConnections: CountLimit;
  /** Connections that may not be ended in favour of others: in all, and of one caller. More count as unauthenticated. */
  readonly authenticatedConnections: CountLimit;
  /** Connections accepted in one turn of the event loop; beyond it the oldest of them give way unheard. */
  readonly newConnections: number;
  /** Bytes of unauthenticated connections since their last whole request. */
  readonly unfinished: ByteLimit;
  /** How often those bytes are counted. */
  readonly sweepMs: number;
  /** Requests of one connection that got no answer: under way, or given up by the client. */
  readonly unanswered: {
    readonly usually: number;
    readonly whenBusy: number;
    /** So many requests of unauthenticated connections in one turn of the event loop are too many. */
    readonly busyPerTurn: number;
  };
  /** Requests at a time on one HTTP/2 connection. */
  readonly streamsPerConnection: number;
  /** Requests at a time of whom it is not known yet who asks, in all and from one address. */
  readonly arriving: CountLimit;
  /** Requests at a time on authenticated connections whose access is being decided, in all and of one caller. */
  readonly deciding: CountLimit;
  /** Requests at a time that end by themselves, in all and of one caller. */
  readonly short: CountLimit;
  /** Requests at a time that go on for as long as the client listens. One API server brings those of all its users. */
  readonly long: CountLimit;
}

export interface CountLimit {
  readonly inAll: number;
  readonly each: number;
}

export interface ByteLimit {
  readonly inAll: number;
  readonly perAddress: number;
  readonly perConnection: number;
}

const kib = 1024;
const mib = 1024 * kib;

export const defaultLimits: ServerLimits = {
  // Tokens are 16 KiB at the very most. With 800 connections: 25 MiB.
  headerBytes: 32 * kib,
  // The command of an exec is part of its URL.
  authenticatedHeaderBytes: 64 * kib,
  // Node leaves out what is beyond, so such a request is refused; proxies add a dozen to the dozen of a client.
  headerCount: 256,
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 5_000,
  handshakeMs: 10_000,
  // For what nothing else ends, as headers that drip over HTTP/2. Handshake, headers and their check take as long.
  firstRequestMs: 25_000,
  idleMs: 90_000,
  aliveMs: 30_000,
  accessMs: 30_000,
  stallMs: 60_000,
  // A TLS connection costs about 80 KiB. A good client is unauthenticated for some milliseconds only, so that 200 at a
  // time from one address are thousands a second.
  unauthenticatedConnections: { inAll: 800, each: 200 },
  // One API server brings the sessions and logs of all its users: 1500 of `long`, and its short requests.
  authenticatedConnections: { inAll: 3_000, each: 2_000 },
  // As many as the kernel keeps for us: each of them is read once before it may have to go.
  newConnections: 4_096,
  // One connection: a handshake with ten certificates, headers and the largest body a route takes, with room to spare.
  unfinished: { inAll: 16 * mib, perAddress: 4 * mib, perConnection: 192 * kib },
  sweepMs: 250,
  // A request that is refused unread costs about 80 µs, so that 500 are 40 ms. Go's clients open 100 streams at most
  // before they have heard from the server, and do not pipeline over HTTP/1.1.
  unanswered: { usually: 100, whenBusy: 10, busyPerTurn: 500 },
  streamsPerConnection: 250,
  arriving: { inAll: 1_000, each: 250 },
  deciding: { inAll: 2_000, each: 1_000 },
  short: { inAll: 400, each: 100 },
  long: { inAll: 3_000, each: 1_500 },
};
