import { join } from 'node:path';
import { quote } from '../../up/containerd-config.ts';
import { importWithCtr } from '../../up/containerd-software.ts';
import type { InstanceNames } from '../../up/names.ts';
import { programs } from '../../up/programs.ts';
import type { RuntimeSetup, RuntimeSoftware } from '../../up/runtime-software.ts';
import { starterImages } from '../../up/starter-images.ts';

/** Programs by full path. */
interface ContainerdPrograms {
  readonly containerd: string;
  readonly shim: string;
  readonly ctr: string;
  readonly runc: string;
}

/** A containerd of 2.x, whose CRI plugin is two, and whose configuration has the version 3. */
export function containerd2(paths: ContainerdPrograms): RuntimeSoftware {
  return {
    name: 'containerd',
    program: paths.containerd,
    args: (names) => ['--config', names.containerdConfig],
    files: (names, setup) => [{ path: names.containerdConfig, text: config(names, setup, paths) }],
    importImage: (...args) => importWithCtr(paths.ctr, ...args),
  };
}

/** Two handlers of one program, so that a pod can choose. */
export const handlers = ['runc', 'other'] as const;

function config(names: InstanceNames, { snapshotter, cgroupDriver }: RuntimeSetup, paths: ContainerdPrograms): string {
  const runtime = "plugins.'io.containerd.cri.v1.runtime'";
  const images = "plugins.'io.containerd.cri.v1.images'";
  return `version = 3
root = ${quote(names.containerdData)}
state = ${quote(names.containerdState)}
# Each would want programs, kernel modules or folders of the machine.
disabled_plugins = [
  'io.containerd.internal.v1.opt',
  'io.containerd.monitor.container.v1.restart',
  'io.containerd.snapshotter.v1.blockfile',
  'io.containerd.snapshotter.v1.erofs',
]

[grpc]
  address = ${quote(names.socket)}

[${images}]
  snapshotter = ${quote(snapshotter)}

[${images}.pinned_images]
  sandbox = ${quote(starterImages.pause)}

[plugins.'io.containerd.grpc.v1.cri']
  stream_server_address = '127.0.0.1'
  stream_server_port = '0'

[plugins.'io.containerd.nri.v1.nri']
  disable = true

[${runtime}]
  # Keeps network namespaces out of the directory that the whole machine shares.
  netns_mounts_under_state_dir = true
  # Lowering an OOM score needs CAP_SYS_RESOURCE.
  restrict_oom_score_adj = true
  cdi_spec_dirs = [${quote(join(names.root, 'cdi'))}]

[${runtime}.cni]
  bin_dirs = [${quote(programs.cniPlugins)}]
  conf_dir = ${quote(names.cniConfDir)}

[${runtime}.containerd]
  default_runtime_name = 'runc'
${handlers.map((handler) => handlerConfig(`${runtime}.containerd.runtimes.${handler}`, names, cgroupDriver, paths)).join('')}`;
}

function handlerConfig(
  table: string,
  names: InstanceNames,
  cgroupDriver: RuntimeSetup['cgroupDriver'],
  paths: ContainerdPrograms,
): string {
  return `
[${table}]
  runtime_type = 'io.containerd.runc.v2'
  # Else the shim in PATH would be taken, which may be of another release.
  runtime_path = ${quote(paths.shim)}

[${table}.options]
  BinaryName = ${quote(paths.runc)}
  Root = ${quote(names.runcRoot)}
  SystemdCgroup = ${cgroupDriver === 'systemd'}
`;
}
