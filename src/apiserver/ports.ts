import type { Masked } from '../base/masked.ts';
import type { Status } from '../gen/kubernetes/types.ts';
import type { ApiObject } from '../model/api-client.ts';
import type { ApiResource } from '../model/api-resources.ts';

/**
 * The wire as the client needs it. The real one speaks HTTP/2 over TLS; a fake API server answers in the same process, or
 * behind a real listener. Nothing above it knows sockets.
 */
export interface ApiTransport {
  /** Resolves with the head of the answer; rejects (kind `unavailable`, `timeout` or `cancelled`) when there is none. */
  send(request: TransportRequest): Promise<TransportAnswer>;
  /** Gives up connections that may be half dead; the next request opens new ones. */
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
  /** Ends with the answer; throws `unavailable` when the connection breaks in the middle. Leaving the loop cancels it. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Who the agent says it is, asked for each request: files may have changed, certificates may have been rotated. */
export interface Credentials {
  /** The value of the Authorization header, when it is not the connection that says who we are. */
  authorization(): Promise<string | undefined>;
  /** The server refused what was given: the next answer must not come from a cache. */
  renew?(): void;
}

/** What a connection is made with, asked for each request: a new version means new connections. */
export interface TlsSource {
  current(): Promise<TlsMaterial>;
}

/** PEM texts. Without `ca` the authorities of the system count. */
export interface TlsMaterial {
  /** Differs when anything else does. */
  readonly version: string;
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: Masked<string> | undefined;
}

/** What a reflector needs besides lists. */
export interface ApiWatcher {
  /**
   * Resolves when the server has taken the watch up. Each piece that arrives gives one batch, an empty one too: it shows
   * that the server lives. Throws `invalid` at what is no watch event, `unavailable` when the connection breaks.
   */
  watch<T extends ApiObject>(
    resource: ApiResource,
    request: WatchRequest,
  ): Promise<AsyncIterable<readonly WatchEvent<T>[]>>;
  /** Connections seem to be half dead. */
  reset(): void;
}

export interface WatchRequest {
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Everything after that one. */
  readonly resourceVersion: string;
  /** After which the server ends it. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

export type WatchEvent<T extends ApiObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: T }
  | { readonly type: 'ERROR'; readonly object: Status };
