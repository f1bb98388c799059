import { Client, credentials, Metadata, type ClientOptions } from '@grpc/grpc-js';
import { GetEventsRequest, RuntimeServiceService, type ContainerEventResponse } from '../gen/cri/api.ts';
import { TubeletError } from '../base/errors.ts';
import type { CriTransport } from './cri.ts';
import type { CriEndpoint } from './endpoint.ts';
import type { Invocation, Invoke } from './invoke.ts';

const imageService = '/runtime.v1.ImageService/';
const largestAnswer = 16 * 1024 * 1024;
/** Lists contain the labels and annotations of all pods at once. */
const maxListBytes = 32 * 1024 * 1024;
const lists: ReadonlySet<string> = new Set([
  RuntimeServiceService.listPodSandbox.path,
  RuntimeServiceService.listContainers.path,
]);

const channelOptions: ClientOptions = {
  'grpc.max_receive_message_length': largestAnswer,
  'grpc.max_send_message_length': largestAnswer,
  // A runtime that restarts is back within seconds; with the library's two minutes the agent would miss it.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 3_000,
  // Sockets are not shared with other clients in the process, so that close() closes them.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
};

/** CRI over gRPC. Connects with the first call, and reconnects by itself when the connection was lost. */
export function grpcTransport(endpoint: CriEndpoint, imageEndpoint: CriEndpoint): CriTransport {
  const runtime = new Client(endpoint.url, credentials.createInsecure(), channelOptions);
  const images =
    imageEndpoint.url === endpoint.url
      ? runtime
      : new Client(imageEndpoint.url, credentials.createInsecure(), channelOptions);
  // The limit belongs to a connection, and the output of commands needs no larger one.
  const listing = new Client(endpoint.url, credentials.createInsecure(), {
    ...channelOptions,
    'grpc.max_receive_message_length': maxListBytes,
  });
  const clientFor = (path: string): Client => {
    if (path.startsWith(imageService)) return images;
    return lists.has(path) ? listing : runtime;
  };
  const underWay: UnderWay = new Set();
  const invoke: Invoke = (invocation) => unaryCall(clientFor(invocation.method.path), underWay, invocation);
  return {
    endpoint: endpoint.url,
    invoke,
    events: (signal) => eventStream(runtime, underWay, signal),
    close() {
      // The library continues running calls after close; ours are cancelled.
      for (const giveUp of underWay) giveUp(new TubeletError('cancelled', 'the client was closed'));
      runtime.close();
      listing.close();
      if (images !== runtime) images.close();
    },
  };
}

/** Cancels each running call. */
type UnderWay = Set<(reason: unknown) => void>;

function unaryCall<Request, Response>(
  client: Client,
  underWay: UnderWay,
  invocation: Invocation<Request, Response>,
): Promise<Response> {
  const { method, request } = invocation;
  const { signal, traceparent } = invocation.options;
  const metadata = new Metadata();
  if (traceparent !== undefined) metadata.set('traceparent', traceparent);
  return new Promise((resolve, reject) => {
    const call = client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      metadata,
      {},
      (error, response) => {
        signal?.removeEventListener('abort', onAbort);
        underWay.delete(giveUp);
        if (error !== null) reject(error);
        else if (response === undefined) reject(new Error('the runtime sent no message'));
        else resolve(response);
      },
    );
    const giveUp = (reason: unknown): void => {
      reject(reason);
      call.cancel();
    };
    const onAbort = (): void => giveUp(signal?.reason);
    underWay.add(giveUp);
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
}

async function* eventStream(
  client: Client,
  underWay: UnderWay,
  signal: AbortSignal,
): AsyncGenerator<ContainerEventResponse> {
  signal.throwIfAborted();
  const method = RuntimeServiceService.getContainerEvents;
  const stream = client.makeServerStreamRequest(
    method.path,
    method.requestSerialize,
    method.responseDeserialize,
    GetEventsRequest.create(),
  );
  const cancel = (): void => stream.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  underWay.add(cancel);
  try {
    for await (const event of stream) yield event as ContainerEventResponse;
  } finally {
    signal.removeEventListener('abort', cancel);
    underWay.delete(cancel);
    stream.cancel();
  }
}
