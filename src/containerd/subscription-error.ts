import { status } from '@grpc/grpc-js';
import { kindOf, messageOf, TubeletError, type ErrorKind } from '../base/errors.ts';

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
export function subscriptionError(error: unknown): TubeletError {
  const code: unknown = Reflect.get(Object(error), 'code');
  const details: unknown = Reflect.get(Object(error), 'details');
  const kind = typeof code === 'number' ? (kindOfCode.get(code) ?? 'internal') : kindOf(error);
  const words = typeof details === 'string' && details !== '' ? details : messageOf(error);
  return new TubeletError(kind, `containerd events: ${words}`, { cause: error, remoteMessage: words });
}
