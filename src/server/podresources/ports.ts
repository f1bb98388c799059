import type { ContainerDevices, ContainerMemory, DynamicResource } from '../../gen/podresources/v1.ts';
import type { PodSpec } from '../../gen/kubernetes/types.ts';

/** A pod that has not ended. */
export interface HoldingPod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly spec: PodSpec;
}

/** What a container has for itself. */
export interface Holdings {
  readonly devices: readonly ContainerDevices[];
  /** Only CPUs that nobody else may use. */
  readonly cpuIds: readonly number[];
  readonly memory: readonly ContainerMemory[];
  readonly dynamicResources: readonly DynamicResource[];
}

/** Those who give devices, CPUs and memory away. */
export interface ResourceBooks {
  of(podUid: string, container: string): Holdings;
  /** All that can be given away on this node. */
  allocatable(): Omit<Holdings, 'dynamicResources'>;
}

const none: Holdings = Object.freeze({ devices: [], cpuIds: [], memory: [], dynamicResources: [] });

/** The books of a node on which everything is shared. */
export const nothingHeld: ResourceBooks = { of: () => none, allocatable: () => none };
