import type { InstanceNames } from './names.ts';

export interface AgentPlan {
  readonly names: InstanceNames;
  readonly nodeName: string;
  readonly manifests: string;
  readonly endpoint: string;
  readonly healthzPort: number;
  /** 0: none. Every user of the machine gets to it, so `up` asks by a socket of its own. */
  readonly readOnlyPort: number;
  /** The runtime is ours, and so is the cgroup root. */
  readonly ownRuntime: boolean;
}

/** KubeletConfiguration of a node that stands alone: no API server, reachable from this machine only. */
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
    // Nobody could log in without an API server, so the port that asks for it stays closed.
    enableServer: false,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    failSwapOn: false,
    podLogsDir: plan.names.podLogs,
    volumePluginDir: `${plan.names.kubeletRoot}/volume-plugins`,
    ...(plan.ownRuntime ? { cgroupDriver: 'cgroupfs', cgroupRoot: plan.names.cgroupRoot } : {}),
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** What the agent needs of its environment: where the program that started it can look at its pods. */
export function agentEnvironment({ names }: Pick<AgentPlan, 'names'>): Readonly<Record<string, string>> {
  return { TUBELET_READ_ONLY_SOCKET: names.agentSocket };
}

/** Flags of the agent. Its configuration file is what `down` recognizes it by. */
export function agentFlags(plan: AgentPlan): readonly string[] {
  return [
    `--config=${plan.names.kubeletConfig}`,
    `--root-dir=${plan.names.kubeletRoot}`,
    `--hostname-override=${plan.nodeName}`,
    '--v=2',
  ];
}
