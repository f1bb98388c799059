import { TubeletError, type ErrorKind } from '../base/errors.ts';
import type { Status } from '../gen/kubernetes/types.ts';

/** A refusal by the API server, or by a proxy on the way to it. */
export class ApiError extends TubeletError {
  /** HTTP status, or the code of a Status within a watch. */
  readonly status: number;
  /** The reason of the Status, such as `Conflict` or `Expired`. */
  readonly reason: string | undefined;
  readonly causes: readonly string[];
  readonly retryAfterMs: number | undefined;

  constructor(kind: ErrorKind, message: string, refusal: Refusal) {
    super(kind, message, { remoteMessage: refusal.remoteMessage });
    this.status = refusal.status;
    this.reason = refusal.reason;
    this.causes = refusal.causes ?? [];
    this.retryAfterMs = refusal.retryAfterMs;
  }
}

interface Refusal {
  readonly status: number;
  readonly remoteMessage: string;
  readonly reason?: string | undefined;
  readonly causes?: readonly string[];
  readonly retryAfterMs?: number | undefined;
}

const maxMessageLength = 1_000;

/** The error of an unsuccessful answer. `what` describes the request, such as `GET pods default/web`. */
export function errorOfAnswer(
  what: string,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): ApiError {
  const retryAfterMs = retryAfterOf(headers);
  if (status >= 300 && status < 400) {
    const remoteMessage = `redirect to ${headers['location'] ?? 'somewhere'}`;
    const advice = 'redirects are not followed: put the address of the API server itself into the kubeconfig';
    return new ApiError('unavailable', `${what}: the answer is a ${remoteMessage}; ${advice}`, {
      status,
      remoteMessage,
    });
  }
  const parsed = parseStatus(body);
  if (parsed !== undefined) return errorOfStatus(what, { code: status, ...parsed }, retryAfterMs);
  const said = body.trim().replaceAll(/\s+/g, ' ').slice(0, maxMessageLength);
  const remoteMessage = said === '' ? `HTTP status ${status}` : said;
  return new ApiError(kindOfStatus(status, undefined), `${what}: ${remoteMessage}`, {
    status,
    remoteMessage,
    retryAfterMs,
  });
}

export function errorOfStatus(what: string, status: Status, retryAfterMs?: number): ApiError {
  const { code = 500, reason, details } = status;
  const remoteMessage = (status.message ?? reason ?? `HTTP status ${code}`).slice(0, maxMessageLength);
  const causes = (details?.causes ?? []).flatMap((cause) => cause.reason ?? []);
  const asked = details?.retryAfterSeconds;
  // The server rejects a patch with another uid as a change of the uid: it was meant for another object of that name.
  const isOther = code === 422 && (details?.causes ?? []).some(({ field }) => field === 'metadata.uid');
  return new ApiError(isOther ? 'conflict' : kindOfStatus(code, reason), `${what}: ${remoteMessage}`, {
    status: code,
    remoteMessage,
    reason,
    causes,
    retryAfterMs: retryAfterMs ?? (asked === undefined ? undefined : asked * 1_000),
  });
}

/** The only mapping from codes to kinds. */
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

/** The requested version is no longer kept: only a full list helps. */
export function isExpired(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone');
}

/**
 * The server does not know that version yet, and perhaps never will: its store may have been restored from a backup.
 */
export function isTooNew(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return (
    error.causes.includes('ResourceVersionTooLarge') ||
    error.remoteMessage?.startsWith('Too large resource version') === true
  );
}

/** Seconds only: a date would require synchronized clocks. */
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
    // Not from an API server; its text becomes the message unchanged.
    return undefined;
  }
}
