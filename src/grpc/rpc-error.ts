import { kindOf, messageOf, TubeletError, type ErrorKind } from '../base/errors.ts';

/** Codes by number: the name that programs print, and the kind that the agent decides by. */
const codes: readonly (readonly [name: string, kind: ErrorKind])[] = [
  ['OK', 'internal'],
  ['Canceled', 'cancelled'],
  ['Unknown', 'internal'],
  ['InvalidArgument', 'invalid'],
  ['DeadlineExceeded', 'timeout'],
  ['NotFound', 'notFound'],
  ['AlreadyExists', 'alreadyExists'],
  ['PermissionDenied', 'denied'],
  ['ResourceExhausted', 'exhausted'],
  ['FailedPrecondition', 'conflict'],
  ['Aborted', 'conflict'],
  ['OutOfRange', 'invalid'],
  ['Unimplemented', 'unsupported'],
  ['Internal', 'internal'],
  ['Unavailable', 'unavailable'],
  ['DataLoss', 'internal'],
  ['Unauthenticated', 'denied'],
];

/**
 * The error of a call for the rest of the agent. `given` is the signal of the call, with its deadline and caller: once
 * it has aborted, its reason counts, whatever error the library made of it.
 */
export function rpcError(error: unknown, given?: AbortSignal): TubeletError {
  if (given?.aborted === true) {
    return kindOf(given.reason) === 'timeout'
      ? coded('timeout', 'DeadlineExceeded', 'context deadline exceeded')
      : coded('cancelled', 'Canceled', 'context canceled');
  }
  if (error instanceof TubeletError) return error;
  const status = statusOf(error);
  if (status === undefined) return new TubeletError('internal', messageOf(error), { cause: error });
  const [name, kind] = codes[status.code] ?? [`Code(${status.code})`, 'internal' as const];
  // No caller cancelled it: a server that shuts down resets its streams, which the library reports as cancelled.
  return coded(kind === 'cancelled' ? 'unavailable' : kind, name, status.details);
}

/** Without the library's error as a cause: it repeats the same message. */
function coded(kind: ErrorKind, code: string, words: string): TubeletError {
  return new TubeletError(kind, `rpc error: code = ${code} desc = ${words}`, { remoteMessage: words, code });
}

function statusOf(error: unknown): { readonly code: number; readonly details: string } | undefined {
  const code: unknown = Reflect.get(Object(error), 'code');
  const details: unknown = Reflect.get(Object(error), 'details');
  return typeof code === 'number' && typeof details === 'string' ? { code, details } : undefined;
}
