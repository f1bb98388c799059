import { Client, credentials, Metadata, type ClientOptions, status } from '@grpc/grpc-js';
import type { Clock } from '../base/clock.ts';
import { messageOf, kindOf, TubeletError, type ErrorKind } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { EventsService, type Envelope } from '../gen/containerd/events.ts';
import { toEvent, topics, type ContainerdEvent } from './to-event.ts';

interface ContainerdEventsDeps {
  /** The socket of containerd, `unix:///path`: the same as for CRI. */
  readonly endpoint: string;
  /** Where CRI keeps its containers; default: `k8s.io`. */
  readonly namespace?: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

interface ContainerdEvents {
  /**
   * Events from now on, until the signal aborts. Throws a TubeletError when containerd goes away, and one of kind
   * `unsupported` where no containerd listens; the caller decides when to subscribe again.
   */
  events(signal: AbortSignal): AsyncIterable<ContainerdEvent>;
}

const defaultNamespace = 'k8s.io';

const channelOptions: ClientOptions = {
  // The connection is not shared with other clients in the process, so that it closes with the subscription.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
};

/** containerd's own event service. It reports events as they happen, often before CRI shows them. */
export function containerdEvents(deps: ContainerdEventsDeps): ContainerdEvents {
  return { events: (signal) => subscribe(deps, signal) };
}

async function* subscribe(deps: ContainerdEventsDeps, signal: AbortSignal): AsyncGenerator<ContainerdEvent> {
  if (signal.aborted) return;
  const { clock, log, namespace = defaultNamespace } = deps;
  // One connection per subscription: none stays open in between, and a lost one is noticed at once.
  const client = new Client(deps.endpoint, credentials.createInsecure(), channelOptions);
  const stream = openStream(client, namespace);
  const cancel = (): void => stream.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    for await (const envelope of stream as AsyncIterable<Envelope>) {
      const event = envelope.namespace === namespace ? readEvent(envelope, clock.now(), log) : undefined;
      if (event !== undefined) yield event;
    }
  } catch (error) {
    if (!signal.aborted) throw subscriptionError(error);
  } finally {
    signal.removeEventListener('abort', cancel);
    stream.cancel();
    client.close();
  }
}

function openStream(client: Client, namespace: string): ReturnType<typeof client.makeServerStreamRequest> {
  const { path, requestSerialize, responseDeserialize } = EventsService.subscribe;
  const metadata = new Metadata();
  metadata.set('containerd-namespace', namespace);
  // containerd leaves out events that the agent does not read: a pull alone has hundreds about content and snapshots.
  const filters = [`namespace==${quoted(namespace)},topic~=${quoted(`^(${topics.join('|')})$`)}`];
  return client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, { filters }, metadata);
}

/** Quotes a value for containerd's filters. */
const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;

function readEvent(envelope: Envelope, now: number, log: Log): ContainerdEvent | undefined {
  try {
    return toEvent(envelope, now);
  } catch (error) {
    log.debug(2, 'An event of containerd cannot be read', { topic: envelope.topic, err: messageOf(error) });
    return undefined;
  }
}

/** Codes with a meaning for the subscriber; every other code is a failure inside containerd. */
const kindOfCode: ReadonlyMap<unknown, ErrorKind> = new Map([
  // Another runtime listens on the socket, or a containerd without this service.
  [status.UNIMPLEMENTED, 'unsupported'],
  [status.UNAVAILABLE, 'unavailable'],
  // The agent did not cancel, so containerd did: it is shutting down.
  [status.CANCELLED, 'unavailable'],
  [status.PERMISSION_DENIED, 'denied'],
  [status.UNAUTHENTICATED, 'denied'],
  [status.INVALID_ARGUMENT, 'invalid'],
  [status.RESOURCE_EXHAUSTED, 'exhausted'],
]);

/** The error of a subscription for the rest of the agent: a kind and containerd's message. */
function subscriptionError(error: unknown): TubeletError {
  const code: unknown = Reflect.get(Object(error), 'code');
  const details: unknown = Reflect.get(Object(error), 'details');
  const kind = typeof code === 'number' ? (kindOfCode.get(code) ?? 'internal') : kindOf(error);
  const words = typeof details === 'string' && details !== '' ? details : messageOf(error);
  return new TubeletError(kind, `containerd events: ${words}`, { cause: error, remoteMessage: words });
}
