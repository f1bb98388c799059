import { TubeletError, type ErrorKind } from '../base/errors.ts';
import type { Status } from '../gen/kubernetes/types.ts';

/** A refusal by the API server, or by something on the way to it. */
export class ApiError extends TubeletError {
  /** HTTP status, or the code of a Status within a watch. */
  readonly status: number;
  /** The Status' own word, such as `Conflict` or `Expired`. */
  readonly reason: string | undefined;
  readonly causes: readonly string[];
  readonly retryAfterMs: number | undefined;

  constructor(kind: ErrorKind, message: string, refusal: Refusal) {
    super(kind, message, { remoteMessage: refusal.words });
    this.status = refusal.status;
    this.reason = refusal.reason;
    this.causes = refusal.causes ?? [];
    this.retryAfterMs = refusal.retryAfterMs;
  }
}

interface Refusal {
  readonly status: number;
  readonly words: string;
  readonly reason?: string | undefined;
  readonly causes?: readonly string[];
  readonly retryAfterMs?: number | undefined;
}

const longestWords = 1_000;

/** An answer that is no success. `what` says what was asked, such as `GET pods default/web`. */
export function errorOfAnswer(
  what: string,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): ApiError {
  const retryAfterMs = retryAfterOf(headers);
  if (status >= 300 && status < 400) {
    const words = `redirect to ${headers['location'] ?? 'somewhere'}`;
    const advice = 'redirects are not followed: put the address of the API server itself into the kubeconfig';
    return new ApiError('unavailable', `${what}: the answer is a ${words}; ${advice}`, { status, words });
  }
  const parsed = parseStatus(body);
  if (parsed !== undefined) return errorOfStatus(what, { code: status, ...parsed }, retryAfterMs);
  const said = body.trim().replaceAll(/\s+/g, ' ').slice(0, longestWords);
  const words = said === '' ? `HTTP status ${status}` : said;
  return new ApiError(kindOfStatus(status, undefined), `${what}: ${words}`, { status, words, retryAfterMs });
}

export function errorOfStatus(what: string, status: Status, retryAfterMs?: number): ApiError {
  const { code = 500, reason, details } = status;
  const words = (status.message ?? reason ?? `HTTP status ${code}`).slice(0, longestWords);
  const causes = (details?.causes ?? []).flatMap((cause) => cause.reason ?? []);
  const asked = details?.retryAfterSeconds;
  // A patch that names another uid is told that uids cannot be changed: it was meant for another object of that name.
  const isOther = code === 422 && (details?.causes ?? []).some(({ field }) => field === 'metadata.uid');
  return new ApiError(isOther ? 'conflict' : kindOfStatus(code, reason), `${what}: ${words}`, {
    status: code,
    words,
    reason,
    causes,
    retryAfterMs: retryAfterMs ?? (asked === undefined ? undefined : asked * 1_000),
  });
}

/** The one place where codes become kinds. */
function kindOfStatus(status: number, reason: string | undefined): ErrorKind {
  switch (status) {
    case 400:
    case 413:
    case 422:
      return 'invalid';
    case 401:
    case 403:
      return 'denied';
    case 404:
      return 'notFound';
    case 405:
    case 406:
    case 415:
      return 'unsupported';
    case 408:
    case 504:
      return 'timeout';
    case 409:
      return reason === 'AlreadyExists' ? 'alreadyExists' : 'conflict';
    case 410:
      return 'conflict';
    case 429:
      return 'exhausted';
    default:
      return 'unavailable';
  }
}

/** The version asked for is no longer kept: only a full list helps. */
export function isExpired(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone');
}

/** The server does not know that version yet, and perhaps never will: its store may have been set back. */
export function isTooNew(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return (
    error.causes.includes('ResourceVersionTooLarge') ||
    error.remoteMessage?.startsWith('Too large resource version') === true
  );
}

/** Seconds only: a date would need both walls to agree. */
function retryAfterOf(headers: Readonly<Record<string, string>>): number | undefined {
  const text = headers['retry-after'];
  return text !== undefined && /^\d{1,6}$/.test(text.trim()) ? Number(text) * 1_000 : undefined;
}

function parseStatus(body: string): Status | undefined {
  if (!body.trimStart().startsWith('{')) return undefined;
  try {
    const value = JSON.parse(body) as Status | null;
    return value !== null && typeof value === 'object' && value.kind === 'Status' ? value : undefined;
  } catch {
    // Not from an API server; its text is told as it is.
    return undefined;
  }
}
