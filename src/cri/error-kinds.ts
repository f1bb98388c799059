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

/** Names of codes in the spelling of other programs: not as constants, and with one l. */
function nameOfCode(code: status): string {
  if (code === status.CANCELLED) return 'Canceled';
  const words = (status[code] ?? '').split('_').map((word) => `${word.slice(0, 1)}${word.slice(1).toLowerCase()}`);
  return words.join('') || `Code(${code})`;
}

/** The kind of a gRPC status code; codes without a meaning for the agent are internal. */
export function kindOfGrpcCode(code: number): ErrorKind {
  return kindOfCode.get(code) ?? 'internal';
}

/** containerd answers a second sandbox or container of the same name without a code of its own; 2.x with a general one. */
const codesOfTakenNames: ReadonlySet<number> = new Set([status.UNKNOWN, status.FAILED_PRECONDITION]);
const nameTaken = /^failed to reserve (?:sandbox|container) name /;
/**
 * A runtime that is shutting down resets its streams; the library reports `cancelled`, although no caller cancelled.
 */
const streamReset = 'Call cancelled';

/** The only function that interprets messages, where the code alone would mislead. */
function kindOfServiceError(code: status, words: string): ErrorKind {
  if (codesOfTakenNames.has(code) && nameTaken.test(words)) return 'alreadyExists';
  if (code === status.CANCELLED && words === streamReset) return 'unavailable';
  return kindOfGrpcCode(code);
}

/** The error of a failed verb for the rest of the agent: a kind, the verb, and the runtime's message. */
export function verbError(verb: CriVerb, error: unknown, signal?: AbortSignal): TubeletError {
  if (isServiceError(error)) {
    // It may contain output of a container's process or of a plugin, and it ends up in statuses and events.
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
  // A caller may abort with any reason. In every case the call was cancelled by its caller.
  if (signal?.aborted === true && error === signal.reason) {
    const kind = kindOf(error) === 'timeout' ? 'timeout' : 'cancelled';
    return new TubeletError(kind, `${verb}: given up by the caller`, { cause: error });
  }
  return new TubeletError(kindOf(error), `${verb}: ${messageOf(error)}`, { cause: error });
}

/** Decorator: every failure of the decorators below becomes a TubeletError that names its verb. */
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

/** A status text in transport encoding: everything but plain ASCII is escaped. */
const stillEncoded = /^(?:[ -$&-~]|%[0-9a-fA-F]{2})*$/;

/**
 * Status texts are percent-encoded in transport. The gRPC library decodes them, but leaves a text encoded when its
 * bytes are not UTF-8 (a program's output cut in the middle of a character); then this function decodes what it can.
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
