import { TubeletError } from '../../../base/errors.ts';
import type { Settings } from '../../../config/index.ts';
import type { SetupSettings } from '../../../setup/create-setup.ts';
import type { PrepareSettings } from '../../../setup/index.ts';
import type { Host } from '../platform.ts';

/** `keep` leaves the kernel's settings to their owner; the Go kubelet can only change them or refuse to start. */
const tunablesVariable = 'TUBELET_KERNEL_TUNABLES';

export function setupSettings(
  { config, featureGates }: Settings,
  env: Readonly<Record<string, string | undefined>>,
): SetupSettings {
  const variable = env[tunablesVariable] ?? '';
  if (variable !== '' && variable !== 'keep') {
    throw new TubeletError('invalid', `${tunablesVariable}=${variable}: the only value is keep`);
  }
  return {
    oomScoreAdj: config.oomScoreAdj ?? 0,
    hasOwnCgroup: config.kubeletCgroups !== '',
    tunables: config.protectKernelDefaults ? 'refuse' : variable === 'keep' ? 'keep' : 'change',
    systemCgroups: config.systemCgroups,
    iptablesChains: config.makeIPTablesUtilChains,
    expectsUserNamespace: featureGates.enabled('KubeletInUserNamespace'),
  };
}

export function prepareSettings(
  { config, flags, featureGates }: Settings,
  { kernelVersion, hasSelinux }: Host['kernel'],
): PrepareSettings {
  return {
    rootDir: flags.rootDir,
    podLogsDir: config.podLogsDir,
    maxOpenFiles: config.maxOpenFiles,
    failSwapOn: config.failSwapOn,
    checkpoints: featureGates.enabled('ContainerCheckpoint'),
    kernelRelease: kernelVersion,
    hasSelinux,
  };
}
