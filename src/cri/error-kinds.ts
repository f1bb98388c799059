import { status } from '@grpc/grpc-js';
import { cutText } from '../base/cut-text.ts';
import { kindOf, messageOf, TubeletError, type ErrorKind } from '../base/errors.ts';
import type { Invoke } from './invoke.ts';
import type { CriVerb } from './verbs.ts';

const kindOfCode: ReadonlyMap<number, ErrorKind> = new Map([
  [status.NOT_FOUND, 'notFound'],
  [status.ALREADY_EXISTS, 'alreadyExists'],
  [status.INVALID_ARGUMENT, 'invalid'],
  [status.PERMISSION_DENIED, 'denied'],
  [status.UNAUTHENTICATED, 'denied'],
  [status.ABORTED, 'conflict'],
  [status.FAILED_PRECONDITION, 'conflict'],
  [status.RESOURCE_EXHAUSTED, 'exhausted'],
  [status.UNAVAILABLE, 'unavailable'],
  [status.DEADLINE_EXCEEDED, 'timeout'],
  [status.CANCELLED, 'cancelled'],
  [status.UNIMPLEMENTED, 'unsupported'],
]);

/** Codes as other programs print them: not as constants, and with one l. */
function nameOfCode(code: status): string {
  if (code === status.CANCELLED) return 'Canceled';
  const words = (status[code] ?? '').split('_').map((word) => `${word.slice(0, 1)}${word.slice(1).toLowerCase()}`);
  return words.join('') || `Code(${code})`;
}

/** The kind of a gRPC status code; what we do not decide upon is internal. */
export function kindOfGrpcCode(code: number): ErrorKind {
  return kindOfCode.get(code) ?? 'internal';
}

/** containerd answers a second sandbox or container of the same name without a code of its own. */
const nameTaken = /^failed to reserve (?:sandbox|container) name /;
/** A runtime that is shutting down resets its streams; the library calls that cancelled, though nobody here did. */
const streamReset = 'Call cancelled';

/** The one place that looks at words, where the code alone would mislead. */
function kindOfServiceError(code: status, words: string): ErrorKind {
  if (code === status.UNKNOWN && nameTaken.test(words)) return 'alreadyExists';
  if (code === status.CANCELLED && words === streamReset) return 'unavailable';
  return kindOfGrpcCode(code);
}

/** The error a verb failed with, as the rest of the agent sees it: a kind, the verb, and the runtime's own words. */
export function verbError(verb: CriVerb, error: unknown, signal?: AbortSignal): TubeletError {
  if (isServiceError(error)) {
    // What a container's process or a plugin said may be in it, and it ends up in statuses and events.
    const words = cutText(readableDetails(error.details));
    const kind = kindOfServiceError(error.code, words);
    return new TubeletError(kind, `${verb}: ${words}`, {
      cause: error,
      remoteMessage: words,
      code: nameOfCode(error.code),
    });
  }
  if (error instanceof TubeletError) {
    return new TubeletError(error.kind, `${verb}: ${error.message}`, { cause: error, remoteMessage: error.message });
  }
  // A caller may abort with any reason. Whatever it says, the call was given up by its caller.
  if (signal?.aborted === true && error === signal.reason) {
    const kind = kindOf(error) === 'timeout' ? 'timeout' : 'cancelled';
    return new TubeletError(kind, `${verb}: given up by the caller`, { cause: error });
  }
  return new TubeletError(kindOf(error), `${verb}: ${messageOf(error)}`, { cause: error });
}

/** Decorator: whatever goes wrong below comes out as a TubeletError that names its verb. */
export function withErrorKinds(next: Invoke): Invoke {
  return async (invocation) => {
    try {
      return await next(invocation);
    } catch (error) {
      throw verbError(invocation.verb, error, invocation.options.signal);
    }
  };
}

interface ServiceErrorShape {
  readonly code: status;
  readonly details: string;
}

function isServiceError(error: unknown): error is Error & ServiceErrorShape {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'number' &&
    'details' in error &&
    typeof error.details === 'string'
  );
}

/** A status text as it travels: everything but plain ASCII is escaped. */
const stillEncoded = /^(?:[ -$&-~]|%[0-9a-fA-F]{2})*$/;

/**
 * Status texts travel percent-encoded. The gRPC library decodes them, but leaves a text as it came when its bytes are no
 * UTF-8 (a program's output cut in the middle of a character); then we decode what can be decoded.
 */
export function readableDetails(details: string): string {
  if (details === '') return 'the runtime gave no reason';
  if (!stillEncoded.test(details) || isDecodable(details)) return details;
  return details.replaceAll(/(?:%[0-9a-fA-F]{2})+/g, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}

function isDecodable(text: string): boolean {
  try {
    decodeURI(text);
    return true;
  } catch {
    return false;
  }
}
