import type { PodSpec } from '../../gen/kubernetes/types.ts';
import { sidecarsOf } from '../../model/containers.ts';

/**
 * The containers that each sidecar waits for before it is stopped: it serves the regular containers and the sidecars that
 * were started after it, so it outlives them. Regular containers wait for no other.
 */
export function computeStopOrder(spec: PodSpec): ReadonlyMap<string, readonly string[]> {
  const regular = spec.containers.map(({ name }) => name);
  const sidecars = sidecarsOf(spec).map(({ name }) => name);
  return new Map(sidecars.map((name, index) => [name, [...regular, ...sidecars.slice(index + 1)]]));
}
