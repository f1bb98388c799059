import { rm } from 'node:fs/promises';
import {
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { kindOf, messageOf, TubeletError, type ErrorKind } from '../../base/errors.ts';
import type { UnaryVerb } from '../../cri/index.ts';
import {
  ImageServiceService,
  RuntimeServiceService,
  type ContainerEventResponse,
  type GetEventsRequest,
} from '../../gen/cri/api.ts';
import type { FakeCri } from './fake-cri.ts';

export interface ServedFakeCri {
  /** `unix://…` */
  readonly endpoint: string;
  /** Drops all connections and frees the socket, as when the runtime dies. */
  stop(): Promise<void>;
  /** Listens again on the same socket. */
  start(): Promise<void>;
}

/** Which parts the server offers: an old runtime offers no v1 at all. */
interface ServeOptions {
  readonly services?: readonly ('runtime' | 'images')[];
}

/** Serves a fake over a real unix socket, with the same state and script as in process. */
export async function serveFakeCri(
  fake: Pick<FakeCri, 'engine'>,
  socketPath: string,
  options: ServeOptions = {},
): Promise<ServedFakeCri> {
  const endpoint = `unix://${socketPath}`;
  const services = options.services ?? ['runtime', 'images'];
  let server: Server | undefined;
  const served: ServedFakeCri = {
    endpoint,
    async start() {
      await served.stop();
      const next = new Server({ 'grpc.max_receive_message_length': 16 * 1024 * 1024 });
      if (services.includes('runtime')) next.addService(RuntimeServiceService, runtimeImplementation(fake));
      if (services.includes('images')) next.addService(ImageServiceService, unaryVerbs(fake, ImageServiceService));
      await listen(next, endpoint);
      server = next;
    },
    async stop() {
      server?.forceShutdown();
      server = undefined;
      await rm(socketPath, { force: true });
    },
  };
  await served.start();
  return served;
}

function listen(server: Server, endpoint: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.bindAsync(endpoint, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}

type UnaryImplementation = (call: ServerUnaryCall<unknown, unknown>, done: sendUnaryData<unknown>) => void;

function unaryVerbs(fake: Pick<FakeCri, 'engine'>, service: object): Record<string, UnaryImplementation> {
  const implement =
    (verb: string): UnaryImplementation =>
    (call, done) => {
      void answer(fake, verb as UnaryVerb, call, done);
    };
  return Object.fromEntries(Object.keys(service).map((verb) => [verb, implement(verb)]));
}

async function answer(
  fake: Pick<FakeCri, 'engine'>,
  verb: UnaryVerb,
  call: ServerUnaryCall<unknown, unknown>,
  done: sendUnaryData<unknown>,
): Promise<void> {
  try {
    done(null, await fake.engine.handle(verb, call.request, signalOf(call)));
  } catch (error) {
    done(statusOf(error));
  }
}

function runtimeImplementation(fake: Pick<FakeCri, 'engine'>) {
  return {
    ...unaryVerbs(fake, RuntimeServiceService),
    getContainerEvents(call: ServerWritableStream<GetEventsRequest, ContainerEventResponse>) {
      void streamEvents(fake, call);
    },
  };
}

async function streamEvents(
  fake: Pick<FakeCri, 'engine'>,
  call: ServerWritableStream<GetEventsRequest, ContainerEventResponse>,
): Promise<void> {
  const signal = signalOf(call);
  try {
    for await (const event of fake.engine.events(signal)) call.write(event);
    call.end();
  } catch (error) {
    if (!signal.aborted) call.emit('error', statusOf(error));
  }
}

/** A signal that aborts when the client goes away. */
function signalOf(call: { on(event: 'cancelled', listener: () => void): unknown; cancelled: boolean }): AbortSignal {
  const controller = new AbortController();
  const cancel = (): void => controller.abort(new TubeletError('cancelled', 'the client went away'));
  if (call.cancelled) cancel();
  call.on('cancelled', cancel);
  return controller.signal;
}

const codes: Readonly<Record<ErrorKind, status>> = {
  notFound: status.NOT_FOUND,
  alreadyExists: status.ALREADY_EXISTS,
  invalid: status.INVALID_ARGUMENT,
  denied: status.PERMISSION_DENIED,
  conflict: status.FAILED_PRECONDITION,
  exhausted: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
  timeout: status.DEADLINE_EXCEEDED,
  cancelled: status.CANCELLED,
  unsupported: status.UNIMPLEMENTED,
  // What containerd sends for failures of its own.
  internal: status.UNKNOWN,
};

function statusOf(error: unknown): { code: status; details: string } {
  return { code: codes[kindOf(error)], details: messageOf(error) };
}
