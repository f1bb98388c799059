import type { InstanceNames } from './names.ts';
import { programs } from './programs.ts';
import type { RuntimeSetup } from './runtime-software.ts';
import { starterImages } from './starter-images.ts';

/** Unused here; each would cost start-up time or need programs and kernel modules that may be missing. */
const disabledPlugins = [
  'io.containerd.snapshotter.v1.aufs',
  'io.containerd.snapshotter.v1.btrfs',
  'io.containerd.snapshotter.v1.devmapper',
  'io.containerd.snapshotter.v1.zfs',
  'io.containerd.internal.v1.opt',
  'io.containerd.internal.v1.restart',
  'io.containerd.internal.v1.tracing',
  'io.containerd.tracing.processor.v1.otlp',
  'io.containerd.nri.v1.nri',
];

/**
 * Configuration of the private containerd: every path is ours, so that it does not touch a containerd of the system.
 */
export function containerdConfig(names: InstanceNames, { snapshotter, cgroupDriver }: RuntimeSetup): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = ${quote(names.containerdData)}
state = ${quote(names.containerdState)}
disabled_plugins = [
${disabledPlugins.map((plugin) => `  ${quote(plugin)},`).join('\n')}
]

[grpc]
  address = ${quote(names.socket)}

[${cri}]
  sandbox_image = ${quote(starterImages.pause)}
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  # Keeps network namespaces out of the directory that the whole machine shares.
  netns_mounts_under_state_dir = true
  # Lowering an OOM score needs CAP_SYS_RESOURCE.
  restrict_oom_score_adj = true

[${cri}.cni]
  bin_dir = ${quote(programs.cniPlugins)}
  conf_dir = ${quote(names.cniConfDir)}

[${cri}.containerd]
  snapshotter = ${quote(snapshotter)}
  default_runtime_name = "runc"

[${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[${cri}.containerd.runtimes.runc.options]
  BinaryName = ${quote(programs.runc)}
  Root = ${quote(names.runcRoot)}
  SystemdCgroup = ${cgroupDriver === 'systemd'}
`;
}

/** A TOML basic string; JSON's escapes are a part of TOML's. */
export const quote = (text: string): string => JSON.stringify(text);
