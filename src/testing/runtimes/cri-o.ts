import { join } from 'node:path';
import { quote } from '../../up/containerd-config.ts';
import type { InstanceNames } from '../../up/names.ts';
import { programs } from '../../up/programs.ts';
import type { RuntimeSetup, RuntimeSoftware } from '../../up/runtime-software.ts';
import { starterImages } from '../../up/starter-images.ts';
import { handlers } from './containerd-2.ts';
import { modestRunc } from './modest-runc.ts';

/** Programs by full path. */
interface CrioPrograms {
  readonly crio: string;
  readonly pinns: string;
  readonly conmon: string;
  readonly skopeo: string;
  readonly runc: string;
}

/** CRI-O with everything it keeps below the instance's root and run folder. */
export function crio(paths: CrioPrograms): RuntimeSoftware {
  return {
    name: 'CRI-O',
    program: paths.crio,
    // Neither the machine's drop-ins nor its defaults.
    args: (names) => ['--config', names.containerdConfig, '--config-dir', ''],
    files: (names, setup) => [
      { path: names.containerdConfig, text: config(names, setup, paths) },
      { path: policyFile(names), text: JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] }) },
      { path: runcHere(names), text: modestRunc(paths.runc), mode: 0o755 },
    ],
    async importImage({ path, reference }, names, setup, run, signal) {
      const { driver, root, runRoot } = storage(names, setup);
      const target = `containers-storage:[${driver}@${root}+${runRoot}]${reference}`;
      const words = ['--policy', policyFile(names), 'copy', '--quiet', `oci-archive:${path}`, target];
      await run(paths.skopeo, words, signal === undefined ? {} : { signal });
    },
  };
}

const defaultCapabilities = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'NET_RAW',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
];

const runcHere = (names: InstanceNames): string => join(names.root, 'runc');
const policyFile = (names: InstanceNames): string => join(names.root, 'policy.json');

interface Storage {
  readonly driver: string;
  readonly root: string;
  readonly runRoot: string;
}

function storage(names: InstanceNames, { snapshotter }: RuntimeSetup): Storage {
  return {
    driver: snapshotter === 'overlayfs' ? 'overlay' : 'vfs',
    root: names.containerdData,
    runRoot: names.containerdState,
  };
}

function config(names: InstanceNames, setup: RuntimeSetup, paths: CrioPrograms): string {
  const { driver, root, runRoot } = storage(names, setup);
  const { cgroupDriver } = setup;
  // By cgroupfs the watching process must live in the pod's cgroup.
  const monitorCgroup = cgroupDriver === 'systemd' ? 'system.slice' : 'pod';
  return `[crio]
root = ${quote(root)}
runroot = ${quote(runRoot)}
storage_driver = ${quote(driver)}
storage_option = []
log_dir = ${quote(join(names.root, 'crio-logs'))}
version_file = ${quote(join(names.runDir, 'version'))}
version_file_persist = ""
clean_shutdown_file = ${quote(join(names.root, 'clean-shutdown'))}
internal_wipe = false

[crio.api]
listen = ${quote(names.socket)}
stream_address = "127.0.0.1"
stream_port = "0"

[crio.runtime]
default_runtime = "runc"
cgroup_manager = ${quote(cgroupDriver)}
conmon = ${quote(paths.conmon)}
conmon_cgroup = ${quote(monitorCgroup)}
pinns_path = ${quote(paths.pinns)}
namespaces_dir = ${quote(names.runDir)}
container_exits_dir = ${quote(join(names.runDir, 'exits'))}
container_attach_socket_dir = ${quote(names.runDir)}
hooks_dir = []
cdi_spec_dirs = [${quote(join(names.root, 'cdi'))}]
enable_pod_events = true
# Those of containerd; its own default has fewer.
default_capabilities = [${defaultCapabilities.map(quote).join(', ')}]
${handlers.map((handler) => handlerConfig(handler, names, monitorCgroup, paths)).join('')}
[crio.image]
pause_image = ${quote(starterImages.pause)}
pause_command = ""
signature_policy = ${quote(policyFile(names))}

[crio.network]
network_dir = ${quote(names.cniConfDir)}
plugin_dirs = [${quote(programs.cniPlugins)}]

[crio.metrics]
enable_metrics = false

[crio.nri]
enable_nri = false
`;
}

function handlerConfig(handler: string, names: InstanceNames, monitorCgroup: string, paths: CrioPrograms): string {
  return `
[crio.runtime.runtimes.${handler}]
runtime_path = ${quote(runcHere(names))}
runtime_type = "oci"
runtime_root = ${quote(names.runcRoot)}
monitor_path = ${quote(paths.conmon)}
monitor_cgroup = ${quote(monitorCgroup)}
`;
}
