import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** Paths and names of an instance. All of them follow from the root, so `down` needs no stored state. */
export interface InstanceNames {
  /** Eight hexadecimal digits: short enough for an interface name, long enough not to collide with another instance. */
  readonly id: string;
  readonly root: string;
  readonly journal: string;
  /** Short, because a unix socket path holds 107 bytes and roots may be long. */
  readonly runDir: string;
  readonly socket: string;
  /** The socket at which the agent shows its pods to this program. */
  readonly agentSocket: string;
  readonly containerdConfig: string;
  readonly containerdData: string;
  readonly containerdState: string;
  readonly containerdLog: string;
  readonly runcRoot: string;
  readonly cniConfDir: string;
  readonly ipamDir: string;
  readonly network: string;
  readonly bridge: string;
  readonly cgroupRoot: string;
  /** What systemd calls the cgroup root. */
  readonly cgroupSlice: string;
  readonly kubeletConfig: string;
  readonly kubeletRoot: string;
  readonly podLogs: string;
  readonly agentLog: string;
  /** Outside of the root, because it exists before the root and is read while the root is removed. */
  readonly upLog: string;
  readonly manifests: string;
}

/** The names of the instance at an absolute root. */
export function instanceNames(root: string): InstanceNames {
  const id = createHash('sha256').update(root).digest('hex').slice(0, 8);
  const runDir = `/run/tubelet-${id}`;
  return {
    id,
    root,
    journal: join(root, 'state.json'),
    runDir,
    socket: `${runDir}/containerd.sock`,
    agentSocket: `${runDir}/agent.sock`,
    containerdConfig: join(root, 'containerd.toml'),
    containerdData: join(root, 'containerd'),
    containerdState: `${runDir}/containerd`,
    containerdLog: join(root, 'containerd.log'),
    runcRoot: `${runDir}/runc`,
    cniConfDir: join(root, 'cni', 'conf'),
    ipamDir: join(root, 'cni', 'ipam'),
    network: `tubelet-${id}`,
    bridge: `tb-${id}`,
    cgroupRoot: `/tubelet-${id}`,
    cgroupSlice: `/tubelet_${id}.slice`,
    kubeletConfig: join(root, 'kubelet.json'),
    kubeletRoot: join(root, 'kubelet'),
    podLogs: join(root, 'pod-logs'),
    agentLog: join(root, 'agent.log'),
    upLog: `/var/log/tubelet-${id}.log`,
    manifests: join(root, 'manifests'),
  };
}
