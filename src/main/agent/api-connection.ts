import { arch, platform } from 'node:os';
import {
  CertificateStore,
  ClientCertificateManager,
  hostCertificateFiles,
  prepareClientIdentity,
  readBootstrapAccess,
  type CsrConnection,
} from '../../apiserver/identity/index.ts';
import {
  clientMetrics,
  connectApiServer,
  HttpApiClient,
  tracedTransport,
  type ApiServerAccess,
  type ApiTransport,
} from '../../apiserver/index.ts';
import type { Calls } from '../../base/calls.ts';
import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Random } from '../../base/random.ts';
import type { Tracer } from '../../base/tracing.ts';
import type { Settings } from '../../config/index.ts';
import { goArchitecture } from '../../model/architecture.ts';

interface ApiConnectionDeps {
  readonly settings: Settings;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly heartbeats: Heartbeats;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly calls: Calls;
  readonly tracer?: Tracer | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface ApiAccess {
  readonly api: HttpApiClient;
  /** With a rate limit of its own, for requests that unauthenticated clients cause. */
  readonly reviews: HttpApiClient;
  readonly transport: ApiTransport;
  /** Components that renew the agent's identity. */
  readonly components: readonly Component[];
}

/**
 * Connects to the API server, if one is configured. An agent that has no identity there yet requests one first
 * and waits for it; nothing else is sent.
 */
export async function openApi(deps: ApiConnectionDeps, signal: AbortSignal): Promise<ApiAccess | undefined> {
  const { settings, nodeName, clock, random, log, heartbeats, metrics, env } = deps;
  const { kubeconfig, bootstrapKubeconfig, certDir } = settings.flags;
  if (kubeconfig === '') return undefined;
  const files = hostCertificateFiles(random);
  const store = new CertificateStore({ files, log, folder: certDir, purpose: 'client' });
  const connect = async (access: ApiServerAccess): Promise<CsrConnection> => {
    const { transport, credentials } = await connectApiServer(access, { clock, log, environment: env });
    const api = new HttpApiClient({ transport, credentials, clock, log, userAgent: userAgent(settings) });
    return { api, close: () => transport.close() };
  };
  const identity = await prepareClientIdentity(
    { kubeconfig, bootstrapKubeconfig, certDir, nodeName, rotate: settings.config.rotateCertificates },
    { clock, random, log, files, store, connect },
    signal,
  );
  const access = await connectApi(identity.access, deps);
  if (!identity.rotates) return { ...access, components: [] };
  const manager = new ClientCertificateManager({
    clock,
    random,
    log,
    heartbeats,
    metrics,
    store,
    nodeName,
    api: access.api,
    ...(bootstrapKubeconfig !== '' && {
      bootstrap: async () => connect(await readBootstrapAccess(files, bootstrapKubeconfig)),
    }),
    // New connections use the new certificate as soon as it is on disk; those with the old one finish.
    onRotated: () => log.info('Client certificate was rotated'),
  });
  return { ...access, components: [manager] };
}

function userAgent({ version }: Settings): string {
  return `kubelet/${version} (${platform()}/${goArchitecture(arch())}) kubernetes/tubelet`;
}

async function connectApi(access: ApiServerAccess, deps: ApiConnectionDeps): Promise<Omit<ApiAccess, 'components'>> {
  const { settings, clock, log, env, metrics, calls, tracer } = deps;
  const { kubeAPIQPS, kubeAPIBurst, eventRecordQPS, eventBurst } = settings.config;
  const seen = clientMetrics(metrics, access.server.host, clock);
  const connection = await connectApiServer(access, {
    clock,
    log,
    environment: env,
    plugin: seen.plugin,
  });
  const { credentials } = connection;
  const transport = tracer === undefined ? connection.transport : tracedTransport(connection.transport, tracer);
  const common = {
    transport,
    credentials,
    clock,
    log,
    userAgent: userAgent(settings),
    compression: !access.disableCompression,
    seen: seen.requests,
    calls,
  };
  const unlimited = { qps: 0, burst: 1 };
  return {
    api: new HttpApiClient({
      ...common,
      limits: {
        normal: { qps: kubeAPIQPS ?? 50, burst: kubeAPIBurst },
        events: { qps: eventRecordQPS ?? 50, burst: eventBurst },
      },
    }),
    reviews: new HttpApiClient({ ...common, limits: { normal: unlimited, events: unlimited } }),
    transport,
  };
}
