import { sidecarsOf } from '../../model/containers.ts';
import type { AllocatableResourcesResponse, PodResources } from '../../gen/podresources/v1.ts';
import type { AllocatedPod, ContainerAllocations, ResourceAllocations } from './ports.ts';

/** What one pod has allocated: its sidecars and its containers. The init containers before them have released theirs. */
export function podResources(pod: AllocatedPod, allocations: ResourceAllocations): PodResources {
  const names = [...sidecarsOf(pod.spec), ...pod.spec.containers].map(({ name }) => name);
  return {
    name: pod.name,
    namespace: pod.namespace,
    containers: names.map((name) => {
      const held = allocations.of(pod.uid, name);
      return { name, ...shared(held), dynamicResources: [...held.dynamicResources] };
    }),
  };
}

export function allocatableResources(allocations: ResourceAllocations): AllocatableResourcesResponse {
  return shared(allocations.allocatable());
}

function shared({
  devices,
  cpuIds,
  memory,
}: Omit<ContainerAllocations, 'dynamicResources'>): AllocatableResourcesResponse {
  return { devices: [...devices], cpuIds: cpuIds.map(BigInt), memory: [...memory] };
}
