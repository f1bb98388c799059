import type { InstanceNames } from './names.ts';

export interface AgentPlan {
  readonly names: InstanceNames;
  readonly nodeName: string;
  readonly manifests: string;
  readonly endpoint: string;
  readonly healthzPort: number;
  /** 0: none. Every user of the machine can reach it, so `up` uses a socket of its own. */
  readonly readOnlyPort: number;
  /** That of a runtime of ours, below a cgroup root of ours; another runtime decides about cgroups itself. */
  readonly cgroupDriver: 'cgroupfs' | 'systemd' | undefined;
}

/** KubeletConfiguration of a node without an API server, reachable from this machine only. */
export function kubeletConfiguration(plan: AgentPlan): string {
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    staticPodPath: plan.manifests,
    containerRuntimeEndpoint: plan.endpoint,
    address: '127.0.0.1',
    readOnlyPort: plan.readOnlyPort,
    healthzBindAddress: '127.0.0.1',
    healthzPort: plan.healthzPort,
    // Without an API server no client could authenticate, so the secured port stays closed.
    enableServer: false,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    failSwapOn: false,
    // Chains that outlive the node.
    makeIPTablesUtilChains: false,
    podLogsDir: plan.names.podLogs,
    volumePluginDir: `${plan.names.kubeletRoot}/volume-plugins`,
    ...(plan.cgroupDriver === undefined ? {} : { cgroupDriver: plan.cgroupDriver, cgroupRoot: plan.names.cgroupRoot }),
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/**
 * The environment of the agent: the socket at which this program reads its pods, and that the settings of the kernel stay
 * those of the machine's owner.
 */
export function agentEnvironment({ names }: Pick<AgentPlan, 'names'>): Readonly<Record<string, string>> {
  return { TUBELET_READ_ONLY_SOCKET: names.agentSocket, TUBELET_KERNEL_TUNABLES: 'keep' };
}

/** Flags of the agent. `down` recognizes the agent by its configuration file. */
export function agentFlags(plan: AgentPlan): readonly string[] {
  return [
    `--config=${plan.names.kubeletConfig}`,
    `--root-dir=${plan.names.kubeletRoot}`,
    `--hostname-override=${plan.nodeName}`,
    '--v=2',
  ];
}
