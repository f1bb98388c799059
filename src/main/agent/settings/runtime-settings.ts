import { join } from 'node:path';
import type { Settings } from '../../../config/index.ts';
import type { MachineInfo } from '../../../host/index.ts';
import type { NodeFacts, RuntimeSettings } from '../../../model/runtime-settings.ts';
import type { Host } from '../platform.ts';

/** The settings for making sandboxes and containers. */
export function runtimeSettings(
  settings: Settings,
  node: { readonly nodeName: string; readonly cgroupDriver: 'cgroupfs' | 'systemd' },
  { machine, kernel }: Pick<Host, 'machine' | 'kernel'>,
): RuntimeSettings {
  const { config, flags, featureGates } = settings;
  return {
    nodeName: node.nodeName,
    rootDir: flags.rootDir,
    podLogsDir: config.podLogsDir,
    cgroupRoot: config.cgroupRoot === '' ? '/' : config.cgroupRoot,
    cgroupDriver: node.cgroupDriver,
    cgroupsPerQos: config.cgroupsPerQOS,
    cgroupVersion: machine.cgroupVersion,
    clusterDns: config.clusterDNS,
    clusterDomain: config.clusterDomain,
    resolvConf: config.resolvConf,
    seccompDefault: config.seccompDefault,
    seccompProfileRoot: join(flags.rootDir, 'seccomp'),
    cpuCfsQuota: config.cpuCFSQuota,
    cpuCfsQuotaPeriodMs: config.cpuCFSQuotaPeriod.toMillis(),
    singleProcessOomKill: config.singleProcessOOMKill ?? machine.cgroupVersion === 1,
    memorySwapBehavior: config.memorySwap.swapBehavior === 'LimitedSwap' ? 'LimitedSwap' : 'NoSwap',
    swapControllerAvailable: kernel.hasSwapController,
    memoryThrottlingFactor: config.memoryThrottlingFactor,
    selinuxEnabled: kernel.hasSelinux,
    featureGates: (name) => featureGates.all[name] ?? false,
  };
}

/** Allocatable resources may change while the agent runs, so they are read at each use. */
export function nodeFacts(machine: MachineInfo, allocatable: () => NodeFacts['allocatable']): NodeFacts {
  return {
    memoryCapacityBytes: machine.memoryBytes,
    swapCapacityBytes: machine.swapBytes,
    get allocatable() {
      return allocatable();
    },
    hugePageSizes: machine.hugePageSizes,
    thermalThrottlePaths: machine.thermalThrottlePaths,
  };
}
