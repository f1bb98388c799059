import type { InstanceNames } from '../../../src/up/index.ts';
import type { ControlPlane } from './control-plane.ts';

interface NodePlace {
  readonly names: InstanceNames;
  /** Of the bridge. */
  readonly address: string;
  readonly port: number;
  readonly healthzPort: number;
  readonly endpoint: string;
}

/** KubeletConfiguration of a node of a control plane. Both agents read it; the Go kubelet must leave the machine alone, too. */
export function nodeConfiguration(
  plane: ControlPlane,
  { names, address, port, healthzPort, endpoint }: NodePlace,
  overrides: Readonly<Record<string, unknown>> = {},
): string {
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint: endpoint,
    address,
    port,
    readOnlyPort: 0,
    healthzBindAddress: '127.0.0.1',
    healthzPort,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: plane.authority.certificate },
    },
    authorization: { mode: 'Webhook' },
    clusterDomain: 'cluster.local',
    // The tenth address of the service range, as everywhere. Nobody answers there.
    clusterDNS: [plane.serviceAddress.replace(/1$/, '10')],
    staticPodPath: names.manifests,
    podLogsDir: names.podLogs,
    volumePluginDir: `${names.kubeletRoot}/volume-plugins`,
    failSwapOn: false,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: names.cgroupRoot,
    // Chains of the Go kubelet's own that nobody removes.
    makeIPTablesUtilChains: false,
    ...overrides,
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
