import type { Settings } from '../../../config/index.ts';
import { nodeCapacity, type MachineInfo } from '../../../host/index.ts';
import { reservationsOf, type Amounts, type Reservations } from '../../../model/node-allocatable.ts';
import { parseQosReserved } from '../../../model/qos-reserved.ts';
import type { RuntimeSettings } from '../../../model/runtime-settings.ts';
import type { CgroupSettings } from '../../../resources/create-cgroups.ts';

/** The settings of cgroups, from the configuration and the machine. */
export function cgroupSettings(
  settings: Settings,
  ours: Pick<
    RuntimeSettings,
    'cgroupsPerQos' | 'cgroupDriver' | 'cgroupRoot' | 'cgroupVersion' | 'cpuCfsQuota' | 'cpuCfsQuotaPeriodMs'
  >,
  machine: MachineInfo,
): CgroupSettings {
  const { config, featureGates } = settings;
  return {
    cgroupsPerQos: ours.cgroupsPerQos,
    cgroupDriver: ours.cgroupDriver,
    cgroupRoot: ours.cgroupRoot,
    cgroupVersion: ours.cgroupVersion,
    failCgroupV1: config.failCgroupV1,
    singleProcessOomKill: config.singleProcessOOMKill,
    swapBehavior: config.memorySwap.swapBehavior,
    cpus: machine.cpuList,
    kubeletCgroups: config.kubeletCgroups,
    capacity: nodeCapacity(machine),
    reserved: configuredReservations(settings),
    evictionHard: reservedByEviction(settings),
    enforceNodeAllocatable: config.enforceNodeAllocatable,
    systemReservedCgroup: config.systemReservedCgroup,
    kubeReservedCgroup: config.kubeReservedCgroup,
    qosReservedMemory: parseQosReserved(config.qosReserved),
    memoryQosGate: featureGates.all['MemoryQoS'] ?? false,
    hugePageSizes: machine.hugePageSizes,
    cpuCfsQuota: ours.cpuCfsQuota,
    cpuCfsQuotaPeriodMs: ours.cpuCfsQuotaPeriodMs,
    podPidsLimit: config.podPidsLimit,
  };
}

/** Hard thresholds of eviction, whose amounts are kept from pods unless a flag says otherwise. */
export function reservedByEviction({ config, flags }: Pick<Settings, 'config' | 'flags'>): Amounts {
  return flags.experimentalAllocatableIgnoreEviction ? {} : (config.evictionHard ?? {});
}

/** What the configuration keeps from pods. */
export function configuredReservations({ config }: Pick<Settings, 'config'>): Reservations {
  return reservationsOf(config.kubeReserved, config.systemReserved, config.reservedSystemCPUs);
}
