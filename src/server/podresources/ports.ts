import type { ContainerDevices, ContainerMemory, DynamicResource } from '../../gen/podresources/v1.ts';
import type { PodSpec } from '../../gen/kubernetes/types.ts';

/** A pod that has not ended. */
export interface AllocatedPod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly spec: PodSpec;
}

/** What was allocated to one container alone. */
export interface ContainerAllocations {
  readonly devices: readonly ContainerDevices[];
  /** Only CPUs that no other container may use. */
  readonly cpuIds: readonly number[];
  readonly memory: readonly ContainerMemory[];
  readonly dynamicResources: readonly DynamicResource[];
}

/** What the device, CPU and memory managers have allocated. */
export interface ResourceAllocations {
  of(podUid: string, container: string): ContainerAllocations;
  /** All that can be allocated on this node. */
  allocatable(): Omit<ContainerAllocations, 'dynamicResources'>;
}

const none: ContainerAllocations = Object.freeze({ devices: [], cpuIds: [], memory: [], dynamicResources: [] });

/** Of a node without such managers, where all containers share everything. */
export const noAllocations: ResourceAllocations = { of: () => none, allocatable: () => none };
