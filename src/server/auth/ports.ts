import type { PeerCertificate } from 'node:tls';
import type { ApiWriter } from '../../model/api-client.ts';
import type { Caller, NodeAccess } from '../../model/caller.ts';

/** What a request brought along to say who asks. */
export interface Credentials {
  /** The client's certificate with those above it, as the client sent them; nothing was checked yet. */
  readonly certificate?: PeerCertificate | undefined;
  /** The chain below the certificate authorities in raw DER, leaf first. */
  readonly chain?: readonly Buffer[];
  /** What the TLS library found of that chain: `ok`, or the code of its error. Without it no certificate counts. */
  readonly tlsVerdict?: string;
  /** Where the request came from. */
  readonly address?: string;
  readonly bearer?: string | undefined;
}

/** Finds out who asks. `undefined`: an unknown caller, whose request is refused with 401. */
export interface Authenticator {
  authenticate(credentials: Credentials, signal: AbortSignal): Promise<Caller | undefined>;
}

export interface AuthorizationDecision {
  readonly allowed: boolean;
  /** Why, for the log. */
  readonly reason?: string;
}

/** May this caller do that? Throws when it cannot be found out; the request is then refused with 500. */
export interface Authorizer {
  authorize(caller: Caller, access: NodeAccess, signal: AbortSignal): Promise<AuthorizationDecision>;
}

/** The caller that the certificates of a connection name, without waiting; undefined without good certificates. */
export interface CertificateJudge {
  callerOf(shown: Pick<Credentials, 'chain' | 'certificate' | 'tlsVerdict'>): Caller | undefined;
}

/** A file of certificate authorities that the administrator may replace while the agent runs. */
export interface AuthorityFiles {
  readText(path: string): Promise<string>;
  /** Differs when the file has been replaced or written to. Links are followed. */
  stampOf(path: string): Promise<string>;
  /**
   * Reports changes in a folder, by the name of the entry where the system gives one. Throws when it cannot be watched.
   * The returned function ends the watch.
   */
  watch?(folder: string, onChange: (name: string | undefined) => void, onError: (error: unknown) => void): () => void;
}

/** The API server, which is asked who a caller is and what it may do. */
export type ReviewApi = Pick<ApiWriter, 'create'>;
