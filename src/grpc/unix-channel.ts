import type { Client, Metadata } from '@grpc/grpc-js';
import { linkedSignal, raceAbort } from '../base/abort.ts';
import type { CallOptions } from '../base/call.ts';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import type { OpenRpc, RpcChannel, RpcMethod } from '../base/rpc.ts';
import type * as grpc from './library.ts';
import { rpcError } from './rpc-error.ts';

const channelOptions = {
  // Plugins restart within seconds; the library's two minutes would keep pods waiting.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // Sockets are not shared with other channels, so that close() closes them.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
} as const;

/** The length that fits into `sun_path` with its closing zero. */
const maxSocketPath = 107;

/**
 * Channels to unix sockets. Deadlines use the injected clock: gRPC's own are wall times, and the wall clock may be set.
 */
export function unixChannels(clock: Pick<Clock, 'after'>): OpenRpc {
  return (socketPath, onLost = () => {}) => new UnixChannel(clock, socketPath, onLost);
}

interface Opened {
  readonly client: Client;
  readonly library: typeof grpc;
}

class UnixChannel implements RpcChannel {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #socketPath: string;
  readonly #onLost: () => void;
  #opened: Promise<Opened> | undefined;
  #closed = false;

  constructor(clock: Pick<Clock, 'after'>, socketPath: string, onLost: () => void) {
    this.#clock = clock;
    this.#socketPath = socketPath;
    this.#onLost = onLost;
  }

  async connected(signal: AbortSignal): Promise<void> {
    const { client, library } = await this.#open();
    const channel = client.getChannel();
    const { READY, SHUTDOWN } = library.connectivityState;
    let done = false;
    const reached = new Promise<void>((resolve, reject) => {
      const watchState = (): void => {
        // A closed channel must not be asked to connect: that connection would never be closed.
        if (done || signal.aborted) return;
        if (channel.getConnectivityState(false) === SHUTDOWN) return reject(this.#closedError());
        const state = channel.getConnectivityState(true);
        if (state === READY) return resolve();
        channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, watchState);
      };
      watchState();
    });
    try {
      await raceAbort(reached, signal);
    } finally {
      done = true;
    }
  }

  async call<Request, Response>(
    method: RpcMethod<Request, Response>,
    request: Request,
    options: CallOptions = {},
  ): Promise<Response> {
    const { signal, timeoutMs, traceparent } = options;
    const limit = linkedSignal(signal, timeoutMs === undefined ? undefined : { clock: this.#clock, ms: timeoutMs });
    try {
      const { client, library } = await this.#open();
      const metadata = new library.Metadata();
      if (traceparent !== undefined) metadata.set('traceparent', traceparent);
      return await unaryCall(client, method, request, metadata, limit.signal);
    } catch (error) {
      throw rpcError(error, limit.signal);
    } finally {
      limit.release();
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    // A channel that could not be opened needs no closing; the caller got its error.
    void this.#opened?.then(
      ({ client }) => client.close(),
      () => undefined,
    );
  }

  #open(): Promise<Opened> {
    if (this.#closed) return Promise.reject(this.#closedError());
    if (Buffer.byteLength(this.#socketPath) > maxSocketPath) {
      const why = `the socket path ${this.#socketPath} is longer than ${maxSocketPath} bytes`;
      return Promise.reject(new TubeletError('invalid', why));
    }
    this.#opened ??= this.#load();
    return this.#opened;
  }

  async #load(): Promise<Opened> {
    const library = await import('./library.ts');
    const { credentials, connectivityState } = library;
    const client = new library.Client(`unix:${this.#socketPath}`, credentials.createInsecure(), channelOptions);
    const channel = client.getChannel();
    let stood = false;
    const follow = (): void => {
      const state = channel.getConnectivityState(false);
      if (state === connectivityState.SHUTDOWN) return;
      if (stood && state !== connectivityState.READY) this.#onLost();
      stood = state === connectivityState.READY;
      channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, follow);
    };
    follow();
    return { client, library };
  }

  #closedError(): TubeletError {
    return new TubeletError('cancelled', `the connection to ${this.#socketPath} was closed`);
  }
}

function unaryCall<Request, Response>(
  client: Client,
  { path, requestSerialize, responseDeserialize }: RpcMethod<Request, Response>,
  request: Request,
  metadata: Metadata,
  signal: AbortSignal,
): Promise<Response> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason);
      call.cancel();
    };
    const call = client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      metadata,
      {},
      (error, response) => {
        signal.removeEventListener('abort', onAbort);
        if (error !== null) reject(error);
        else if (response === undefined) reject(new TubeletError('internal', 'there was no message in the answer'));
        else resolve(response);
      },
    );
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
