import type { CgroupSettings } from '../resources/cgroups/index.ts';

/** The default settings of a kubelet, on a machine of two CPUs and 8 GiB. */
export function someCgroupSettings(more: Partial<CgroupSettings> = {}): CgroupSettings {
  return {
    cgroupsPerQos: true,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: '/',
    cgroupVersion: 1,
    failCgroupV1: false,
    singleProcessOomKill: undefined,
    swapBehavior: '',
    cpus: '0-1',
    kubeletCgroups: '',
    capacity: { cpu: '2', memory: '8Gi', pid: '1000' },
    reserved: { kube: {}, system: {} },
    evictionHard: {},
    enforceNodeAllocatable: ['pods'],
    systemReservedCgroup: '',
    kubeReservedCgroup: '',
    qosReservedMemory: undefined,
    memoryQosGate: false,
    hugePageSizes: [],
    cpuCfsQuota: true,
    cpuCfsQuotaPeriodMs: 100,
    podPidsLimit: -1,
    ...more,
  };
}
