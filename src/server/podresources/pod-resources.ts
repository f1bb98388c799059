import { sidecarsOf } from '../../model/containers.ts';
import type { AllocatableResourcesResponse, PodResources } from '../../gen/podresources/v1.ts';
import type { HoldingPod, Holdings, ResourceBooks } from './ports.ts';

/** What one pod holds: its sidecars and its containers. What ran before them has given everything back. */
export function podResources(pod: HoldingPod, books: ResourceBooks): PodResources {
  const names = [...sidecarsOf(pod.spec), ...pod.spec.containers].map(({ name }) => name);
  return {
    name: pod.name,
    namespace: pod.namespace,
    containers: names.map((name) => {
      const held = books.of(pod.uid, name);
      return { name, ...shared(held), dynamicResources: [...held.dynamicResources] };
    }),
  };
}

export function allocatableResources(books: ResourceBooks): AllocatableResourcesResponse {
  return shared(books.allocatable());
}

function shared({ devices, cpuIds, memory }: Omit<Holdings, 'dynamicResources'>): AllocatableResourcesResponse {
  return { devices: [...devices], cpuIds: cpuIds.map(BigInt), memory: [...memory] };
}
