import { accessFiles, type HttpApiClient } from '../../apiserver/index.ts';
import { hostCertificateFiles, servingCertificates, type ServingCertificates } from '../../apiserver/identity/index.ts';
import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Random } from '../../base/random.ts';
import type { Settings } from '../../config/index.ts';
import type { NodeAddress } from '../../gen/kubernetes/types.ts';
import {
  makeAuthentication,
  makeAuthorizer,
  type AccessOptions,
  type Authenticator,
  type Authorizer,
  type ClientCertificates,
} from '../../server/auth/index.ts';
import type { AccessControl } from '../../server/index.ts';
import { nodeFiles } from '../../pods/sources/index.ts';

export interface ServerAccessDeps {
  readonly settings: Settings;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly heartbeats: Heartbeats;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Where there is an API server. */
  readonly cluster?:
    | {
        readonly api: HttpApiClient;
        /** With a budget of its own: strangers must not be able to use up the agent's. */
        readonly reviews: HttpApiClient;
        readonly addresses: () => readonly NodeAddress[];
      }
    | undefined;
}

export interface ServerAccess {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly clientCertificates: ClientCertificates | undefined;
  readonly serving: ServingCertificates & { addressesChanged?(): void };
}

/**
 * `upstream`: exec and its like need no more than the verb of the method, as the Go kubelet has it. Whoever may `get`
 * nodes/proxy can then run commands in every container of the node; otherwise they need `create` too.
 */
const verbsVariable = 'TUBELET_STREAMING_VERBS';

/** The same before it is known who decides: until then nobody is let in. */
export function accessOnceKnown(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
  known: () => ServerAccess | undefined,
): AccessControl {
  const waiting = (): never => {
    throw new TubeletError('unavailable', 'the agent is starting');
  };
  return {
    ...accessOptions(settings, env),
    authenticator: {
      authenticate: async (credentials, signal) =>
        (known() ?? waiting()).authenticator.authenticate(credentials, signal),
    },
    authorizer: {
      authorize: async (caller, access, signal) => (known() ?? waiting()).authorizer.authorize(caller, access, signal),
    },
  };
}

function accessOptions({ featureGates }: Settings, env: Readonly<Record<string, string | undefined>>): AccessOptions {
  return {
    fineGrained: featureGates.enabled('KubeletFineGrainedAuthz'),
    upstreamVerbs: env[verbsVariable] === 'upstream',
  };
}

/** Who may ask this node what, and by which certificate they know it. */
export function wireServerAccess(deps: ServerAccessDeps): ServerAccess {
  const { settings, nodeName, clock, random, log, heartbeats, metrics, cluster } = deps;
  const { config, flags, featureGates } = settings;
  const { authentication, authorization } = config;
  const reviews = { api: cluster?.reviews };
  const { authenticator, clientCertificates } = makeAuthentication(
    {
      clientCAFile: authentication.x509.clientCAFile,
      webhookEnabled: authentication.webhook.enabled,
      cacheTtlMs: authentication.webhook.cacheTTL.toMillis(),
      anonymous: authentication.anonymous.enabled,
      userIds: featureGates.enabled('AllowParsingUserUIDFromCertAuth'),
    },
    {
      clock,
      random,
      log,
      heartbeats,
      metrics,
      files: { ...accessFiles, watch: (...words) => nodeFiles.watch(...words) },
      ...reviews,
    },
  );
  const authorizer = makeAuthorizer(
    {
      mode: authorization.mode,
      authorizedTtlMs: authorization.webhook.cacheAuthorizedTTL.toMillis(),
      unauthorizedTtlMs: authorization.webhook.cacheUnauthorizedTTL.toMillis(),
    },
    { clock, random, metrics, nodeName, ...reviews },
  );
  const serving = servingCertificates(
    {
      tlsCertFile: config.tlsCertFile,
      tlsPrivateKeyFile: config.tlsPrivateKeyFile,
      certDir: flags.certDir,
      serverTlsBootstrap: config.serverTLSBootstrap && featureGates.enabled('RotateKubeletServerCertificate'),
      reloadFiles: featureGates.enabled('ReloadKubeletServerCertificateFile'),
      nodeName,
      hostName: nodeName,
    },
    {
      clock,
      random,
      log,
      heartbeats,
      metrics,
      files: hostCertificateFiles(random),
      ...(cluster && { cluster: { api: cluster.api, addresses: cluster.addresses } }),
    },
  );
  return { authenticator, authorizer, clientCertificates, serving };
}
