import { raceAbort, linkedSignal } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { isKind } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Caller } from '../../model/caller.ts';
import { accessFor, decideAccess, type AccessOptions } from '../auth/access.ts';
import type { Authenticator, Authorizer, Credentials } from '../auth/ports.ts';
import { text, type Page, type Right } from '../route.ts';

/** Who decides on requests that come in on the secured port. */
export interface AccessControl extends AccessOptions {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
}

interface AdmissionDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined: every request is refused. */
  readonly access: AccessControl | undefined;
  readonly accessMs: number;
}

interface AdmissionRequest {
  readonly credentials: Credentials | 'bad';
  readonly method: string;
  readonly path: string;
  /** That of the page; for paths without a page whatever is needed for the most. */
  readonly right: Right;
}

type Admission =
  | { readonly kind: 'admitted'; readonly caller: Caller }
  | { readonly kind: 'refused'; readonly caller: Caller | undefined; readonly page: Page };

const unauthorized: Page = text(401, 'Unauthorized');

/** Finds out who asks and whether that is allowed. Never rejects but when the signal aborts. */
export async function admit(deps: AdmissionDeps, request: AdmissionRequest, signal: AbortSignal): Promise<Admission> {
  const { clock, accessMs } = deps;
  const limited = linkedSignal(signal, { clock, ms: accessMs });
  try {
    return await decide(deps, request, limited.signal, signal);
  } finally {
    limited.release();
  }
}

async function decide(
  { access, log }: AdmissionDeps,
  request: AdmissionRequest,
  signal: AbortSignal,
  client: AbortSignal,
): Promise<Admission> {
  const { path, method } = request;
  if (access === undefined) return { kind: 'refused', caller: undefined, page: unauthorized };
  const caller = await identify(access.authenticator, request, log, signal);
  client.throwIfAborted();
  if (caller === undefined) return { kind: 'refused', caller, page: unauthorized };

  const required = accessFor(request.right, method, access);
  // Bounded here too, in case the authorizer ignores the signal.
  const authorizer: Authorizer = {
    authorize: (who, wanted, until) => raceAbort(access.authorizer.authorize(who, wanted, until), until),
  };
  const decision = await decideAccess(authorizer, caller, required, signal);
  client.throwIfAborted();
  if (decision.kind === 'allowed') return { kind: 'admitted', caller };
  if (decision.kind === 'denied') {
    log.debug(2, 'Request is not allowed', { user: caller.name, method, path, reason: decision.reason });
    return { kind: 'refused', caller, page: text(403, decision.body) };
  }
  log.error(decision.error, 'Authorization error', { user: caller.name, method, path });
  return { kind: 'refused', caller, page: text(500, decision.body) };
}

/** An error counts as an unknown caller: the client learns no more than that. */
async function identify(
  authenticator: Authenticator,
  { credentials, path }: AdmissionRequest,
  log: Log,
  signal: AbortSignal,
): Promise<Caller | undefined> {
  if (credentials === 'bad') return undefined;
  try {
    return await raceAbort(authenticator.authenticate(credentials, signal), signal);
  } catch (error) {
    if (isKind(error, 'cancelled')) return undefined;
    log.error(error, 'Unable to authenticate the request due to an error', { path });
    return undefined;
  }
}
