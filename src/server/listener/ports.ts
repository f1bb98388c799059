import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Masked } from '../../base/masked.ts';
import type { CertificateJudge } from '../auth/ports.ts';

/** Where the serving certificate comes from. Without one, connections are refused until it is there. */
export interface ServingIdentity {
  current(): ServingPair | undefined;
  /** Tells of every change from now on; the answer takes it back. */
  onChange(listener: () => void): () => void;
}

/** PEM texts; the certificate with those above it. */
export interface ServingPair {
  readonly certificate: string;
  readonly key: Masked<string>;
}

/** The authorities of clients: named to them when they are asked for a certificate, and asked about those they show. */
export interface ClientAuthorities extends CertificateJudge {
  /** PEM texts, one behind the other. */
  pem(): string;
  onChange(listener: () => void): () => void;
}

interface HandOverDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly idleMs: number;
}

/** Writes the whole answer to the socket, failures too, and resolves when both ends are closed. */
export type HandOverFunction = (
  deps: HandOverDeps,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  headers: IncomingHttpHeaders,
  to: URL,
  signal: AbortSignal,
) => Promise<void>;
