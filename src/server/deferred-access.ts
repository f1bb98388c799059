import { TubeletError } from '../base/errors.ts';
import type { AccessOptions } from './auth/access.ts';
import type { Authenticator, Authorizer } from './auth/ports.ts';
import type { AccessControl } from './listener/admission.ts';

export type AccessDeciders = Pick<AccessControl, 'authenticator' | 'authorizer'>;

/** Access control of the secured port. Until `setAccess` has named authenticator and authorizer, every caller is refused. */
export class DeferredAccess implements AccessControl {
  readonly fineGrained: boolean;
  readonly upstreamVerbs: boolean;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  #deciders: AccessDeciders | undefined;

  constructor({ fineGrained, upstreamVerbs }: AccessOptions) {
    this.fineGrained = fineGrained;
    this.upstreamVerbs = upstreamVerbs;
    this.authenticator = {
      authenticate: async (credentials, signal) => this.#known().authenticator.authenticate(credentials, signal),
    };
    this.authorizer = {
      authorize: async (caller, access, signal) => this.#known().authorizer.authorize(caller, access, signal),
    };
  }

  setAccess(deciders: AccessDeciders): void {
    this.#deciders = deciders;
  }

  #known(): AccessDeciders {
    if (this.#deciders === undefined) throw new TubeletError('unavailable', 'the agent is starting');
    return this.#deciders;
  }
}
