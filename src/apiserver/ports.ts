import type { Masked } from '../base/masked.ts';
import type { Status } from '../gen/kubernetes/types.ts';
import type { ApiObject } from '../model/api-client.ts';
import type { ApiResource } from '../model/api-resources.ts';

/**
 * The transport as the client needs it. The real one speaks HTTP/2 over TLS; a fake API server answers in the same
 * process, or behind a real listener. The client above it knows no sockets.
 */
export interface ApiTransport {
  /**
   * Resolves with the head of the answer; rejects (kind `unavailable`, `timeout` or `cancelled`) when there is none.
   */
  send(request: TransportRequest): Promise<TransportAnswer>;
  /** Abandons connections that may be half dead; the next request opens new ones. */
  reset(): void;
  close(): Promise<void>;
}

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export interface TransportAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Ends with the answer; throws `unavailable` when the connection breaks off. Leaving the loop cancels it. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The agent's identity, read for each request: files may have changed, certificates may have been rotated. */
export interface Credentials {
  /** The value of the Authorization header, unless the connection itself authenticates the agent. */
  authorization(): Promise<string | undefined>;
  /** The server refused the credentials: the next ones must not come from a cache. */
  renew?(): void;
}

/** The material of a connection, read for each request: a new version means new connections. */
export interface TlsSource {
  current(): Promise<TlsMaterial>;
}

/** PEM texts. Without `ca` the authorities of the system are used. */
export interface TlsMaterial {
  /** Differs when any other field does. */
  readonly version: string;
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: Masked<string> | undefined;
}

/** What a reflector needs besides lists. */
export interface ApiWatcher {
  /**
   * Resolves when the server has accepted the watch. Each piece that arrives gives one batch, also an empty one: it
   * shows that the server is alive. Throws `invalid` for anything but watch events, `unavailable` when the connection
   * breaks off.
   */
  watch<T extends ApiObject>(
    resource: ApiResource,
    request: WatchRequest,
  ): Promise<AsyncIterable<readonly WatchEvent<T>[]>>;
  /** Reports that connections seem to be half dead. */
  reset(): void;
}

export interface WatchRequest {
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** The watch starts after this version. */
  readonly resourceVersion: string;
  /** The server ends the watch after this time. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

export type WatchEvent<T extends ApiObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: T }
  | { readonly type: 'ERROR'; readonly object: Status };
