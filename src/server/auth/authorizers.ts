import { TubeletError } from '../../base/errors.ts';
import { AccessReviews } from './access-reviews.ts';
import type { Authorizer, ReviewApi } from './ports.ts';
import type { ReviewDeps } from './review-calls.ts';

/** `authorization` of the configuration. */
export interface AuthorizationSettings {
  readonly mode: string;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
}

interface AuthorizerDeps extends Omit<ReviewDeps, 'api'> {
  /** Nothing when the agent runs alone. */
  readonly api: ReviewApi | undefined;
  readonly nodeName: string;
}

/** Every authenticated caller may do everything. */
export const alwaysAllow: Authorizer = { authorize: async () => ({ allowed: true }) };

/** Throws a TubeletError of kind `invalid` when the settings cannot work. */
export function makeAuthorizer(settings: AuthorizationSettings, deps: AuthorizerDeps): Authorizer {
  const { mode, authorizedTtlMs, unauthorizedTtlMs } = settings;
  if (mode === 'AlwaysAllow') return alwaysAllow;
  if (mode !== 'Webhook')
    throw new TubeletError('invalid', `authorization.mode is "${mode}": set it to Webhook or to AlwaysAllow`);
  const { api } = deps;
  if (api === undefined)
    throw new TubeletError(
      'invalid',
      'authorization.mode is Webhook, which asks an API server, and there is none: ' +
        'give --kubeconfig, or set authorization.mode to AlwaysAllow',
    );
  return new AccessReviews({ ...deps, api, authorizedTtlMs, unauthorizedTtlMs });
}
