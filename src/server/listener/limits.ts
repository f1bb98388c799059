/** What strangers may use up. */
export interface ServerLimits {
  readonly headerBytes: number;
  /** For the headers of a request, from its first byte or the beginning of the connection. */
  readonly headersMs: number;
  /** For a request with its body. */
  readonly requestMs: number;
  /** How often the two above are looked at. */
  readonly checkMs: number;
  readonly handshakeMs: number;
  /** A connection without a request. */
  readonly idleMs: number;
  /** After this long an HTTP/2 client with requests is asked whether it is there, and has as long to answer. */
  readonly aliveMs: number;
  /** To find out who asks and whether that is allowed. */
  readonly accessMs: number;
  /** A client that takes nothing of what it asked for. */
  readonly stallMs: number;
  readonly connections: number;
  /** Requests at a time on one HTTP/2 connection. */
  readonly streamsPerConnection: number;
  /** Requests at a time of whom it is not known yet who asks, in all and from one address. */
  readonly arriving: CountLimit;
  /** Requests at a time that end by themselves, in all and of one caller. */
  readonly short: CountLimit;
  /** Requests at a time that go on for as long as somebody listens. One API server brings those of everybody. */
  readonly long: CountLimit;
}

export interface CountLimit {
  readonly inAll: number;
  readonly each: number;
}

export const defaultLimits: ServerLimits = {
  headerBytes: 1 << 20,
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 5_000,
  handshakeMs: 10_000,
  idleMs: 90_000,
  aliveMs: 30_000,
  accessMs: 30_000,
  stallMs: 60_000,
  connections: 4_000,
  streamsPerConnection: 250,
  arriving: { inAll: 2_000, each: 1_000 },
  short: { inAll: 400, each: 100 },
  long: { inAll: 3_000, each: 1_500 },
};
