import type { CommonPorts } from '../model/common-ports.ts';
import {
  makeAuthentication,
  makeAuthorizer,
  type AuthorityFiles,
  type ClientCertificates,
  type ReviewApi,
} from './auth/index.ts';
import type { AccessDeciders } from './deferred-access.ts';
import type { ServerAccessSettings } from './server-settings.ts';

interface ServerAccessPorts extends CommonPorts {
  readonly files: AuthorityFiles;
  /** With a budget of its own: clients must not be able to use up the agent's. Nothing where there is no API server. */
  readonly reviews: ReviewApi | undefined;
}

export interface ServerAccess extends AccessDeciders {
  /** Nothing where clients are not asked for certificates. */
  readonly clientCertificates: ClientCertificates | undefined;
}

/**
 * Who may ask this node what. Throws a TubeletError of kind `invalid` when the settings let in no caller at all or need an
 * API server that is not there.
 */
export function createServerAccess(settings: ServerAccessSettings, ports: ServerAccessPorts): ServerAccess {
  const { clock, random, metrics, files, reviews: api } = ports;
  const { nodeName, authentication, authorization } = settings;
  const { authenticator, clientCertificates } = makeAuthentication(authentication, { ...ports, files, api });
  const authorizer = makeAuthorizer(authorization, { clock, random, metrics, nodeName, api });
  return { authenticator, authorizer, clientCertificates };
}
