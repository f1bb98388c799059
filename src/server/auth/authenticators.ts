import type { Clock } from '../../base/clock.ts';
import { isKind, TubeletError } from '../../base/errors.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import { anonymousCaller, type Caller } from '../../model/caller.ts';
import { ClientCertificates } from './client-certificates.ts';
import { chainOf } from './peer-chain.ts';
import type { Authenticator, AuthorityFiles, Credentials, ReviewApi } from './ports.ts';
import type { ReviewDeps } from './review-calls.ts';
import { TokenReviews } from './token-reviews.ts';

/** `authentication` of the configuration. */
export interface AuthenticationSettings {
  /** Absolute; undefined or empty: certificates of clients are ignored. */
  readonly clientCAFile: string | undefined;
  readonly webhookEnabled: boolean;
  readonly cacheTtlMs: number;
  readonly anonymous: boolean;
  /** The gate AllowParsingUserUIDFromCertAuth. */
  readonly userIds: boolean;
}

interface AuthenticatorDeps extends Omit<ReviewDeps, 'api'> {
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly files: AuthorityFiles;
  /** Nothing when the agent runs alone. */
  readonly api: ReviewApi | undefined;
}

interface Authentication {
  readonly authenticator: Authenticator;
  /** To be started before a listener that asks for certificates; undefined when certificates are ignored. */
  readonly clientCertificates: ClientCertificates | undefined;
}

/** Throws a TubeletError of kind `invalid` when the settings cannot work. */
export function makeAuthentication(settings: AuthenticationSettings, deps: AuthenticatorDeps): Authentication {
  const { clientCAFile = '', webhookEnabled, cacheTtlMs, anonymous, userIds } = settings;
  const { api } = deps;
  if (clientCAFile === '' && !webhookEnabled && !anonymous)
    throw new TubeletError(
      'invalid',
      'no caller could be authenticated: set authentication.x509.clientCAFile, ' +
        'authentication.webhook.enabled or authentication.anonymous.enabled',
    );
  if (webhookEnabled && api === undefined)
    throw new TubeletError(
      'invalid',
      'authentication.webhook.enabled asks an API server about tokens, and there is none: ' +
        'give --kubeconfig, or set authentication.webhook.enabled to false',
    );
  const certificates = clientCAFile === '' ? undefined : new ClientCertificates({ ...deps, clientCAFile, userIds });
  const tokens = webhookEnabled && api !== undefined ? new TokenReviews({ ...deps, api, cacheTtlMs }) : undefined;
  const authenticator = new AuthenticatorChain({ ...deps, certificates, tokens, anonymous });
  return { authenticator, clientCertificates: certificates };
}

interface AuthenticatorChainDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
  readonly certificates: Authenticator | undefined;
  readonly tokens: Authenticator | undefined;
  readonly anonymous: boolean;
}

const authenticated = 'system:authenticated';
const logEveryMs = 10_000;

/**
 * Certificate, then token, then anonymous. The first that is good counts. A client whose certificate or token is checked
 * here and is not good is refused, never taken for anonymous; credentials that no authenticator checks are ignored, as
 * upstream does.
 */
export class AuthenticatorChain implements Authenticator {
  readonly #deps: AuthenticatorChainDeps;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: AuthenticatorChainDeps) {
    this.#deps = deps;
  }

  async authenticate(credentials: Credentials, signal: AbortSignal): Promise<Caller | undefined> {
    const { certificates, tokens, anonymous } = this.#deps;
    const showsCertificate = certificates !== undefined && chainOf(credentials).length > 0;
    const showsToken = tokens !== undefined && credentials.bearer !== undefined;
    const methods = [...(showsCertificate ? [certificates] : []), ...(showsToken ? [tokens] : [])];
    for (const method of methods) {
      const caller = await this.#try(method, credentials, signal);
      if (caller !== undefined) return withAuthenticatedGroup(caller);
    }
    return anonymous && methods.length === 0 ? anonymousCaller : undefined;
  }

  async #try(method: Authenticator, credentials: Credentials, signal: AbortSignal): Promise<Caller | undefined> {
    try {
      return await method.authenticate(credentials, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#logFailure(error);
      return undefined;
    }
  }

  /** Unauthenticated clients decide how often this happens, so that not every time gets a line of the log. */
  #logFailure(error: unknown): void {
    const { clock, log } = this.#deps;
    const now = clock.monotonic();
    if (isKind(error, 'denied') || now - this.#loggedAtMs < logEveryMs) {
      log.debug(2, 'Caller could not be authenticated', { err: String(error) });
      return;
    }
    this.#loggedAtMs = now;
    log.error(error, 'Unable to authenticate the request due to an error');
  }
}

/** Every authenticated caller is in one group more, unless the API server has named that group already. */
export function withAuthenticatedGroup(caller: Caller): Caller {
  const { name, groups } = caller;
  if (name === anonymousCaller.name || groups.includes(authenticated)) return caller;
  if (anonymousCaller.groups.some((group) => groups.includes(group))) return caller;
  return { ...caller, groups: [...groups, authenticated] };
}
