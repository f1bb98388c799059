import type { CallOptions } from './call.ts';

/** What the wire needs to know of a method; the generated service definitions have this shape. */
export interface RpcMethod<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

/**
 * A connection to a service of another program, made with the first use and again by itself when it was lost. Failures are
 * TubeletErrors with the remote message and the name of its code (`DeadlineExceeded`, `Unavailable`…).
 */
export interface RpcChannel {
  /** Resolves when there is a connection; tries until then. */
  connected(signal: AbortSignal): Promise<void>;
  call<Request, Response>(
    method: RpcMethod<Request, Response>,
    request: Request,
    options?: CallOptions,
  ): Promise<Response>;
  /** No new calls; those under way go on to their own end. */
  close(): void;
}

/** A channel to a unix socket. Nothing is opened yet. `onLost` is called whenever an established connection is lost. */
export type OpenRpc = (socketPath: string, onLost?: () => void) => RpcChannel;
