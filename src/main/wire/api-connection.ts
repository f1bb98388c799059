import { arch, platform } from 'node:os';
import { connectApiServer, HttpApiClient, loadKubeconfig, type ApiTransport } from '../../apiserver/index.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Settings } from '../../config/index.ts';
import { goArchitecture } from '../../model/architecture.ts';

export interface ApiConnectionDeps {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What this agent calls itself, `v1.34.11+tubelet.0.1.0`. */
  readonly version: string;
}

export interface ApiAccess {
  readonly api: HttpApiClient;
  readonly transport: ApiTransport;
}

/** Opens the way to the API server that a kubeconfig names. Nothing is sent yet. */
export async function connectApi(kubeconfig: string, deps: ApiConnectionDeps): Promise<ApiAccess> {
  const { settings, clock, log, env, version, metrics } = deps;
  const { kubeAPIQPS, kubeAPIBurst, eventRecordQPS, eventBurst } = settings.config;
  const access = await loadKubeconfig(kubeconfig);
  const { transport, credentials } = await connectApiServer(access, { clock, log, environment: env });
  const requests = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Requests sent to the API server, by how they ended.',
    labels: ['code', 'host', 'method'],
  });
  const { host } = access.server;
  const api = new HttpApiClient({
    transport,
    credentials,
    clock,
    log,
    userAgent: `kubelet/${version} (${platform()}/${goArchitecture(arch())}) kubernetes/tubelet`,
    limits: {
      normal: { qps: kubeAPIQPS ?? 50, burst: kubeAPIBurst },
      events: { qps: eventRecordQPS ?? 50, burst: eventBurst },
    },
    compression: !access.disableCompression,
    onAnswer: ({ code, method }) => requests.inc({ code, host, method }),
  });
  return { api, transport };
}
