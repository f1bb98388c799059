import type { PodSpec } from '../../gen/kubernetes/types.ts';
import { sidecarsOf } from '../../model/containers.ts';

/**
 * Whom each container waits for before it is stopped: a sidecar serves the regular containers and the sidecars that came
 * after it, so it outlives them. Regular containers wait for nobody.
 */
export function computeStopOrder(spec: PodSpec): ReadonlyMap<string, readonly string[]> {
  const regular = spec.containers.map(({ name }) => name);
  const sidecars = sidecarsOf(spec).map(({ name }) => name);
  return new Map(sidecars.map((name, index) => [name, [...regular, ...sidecars.slice(index + 1)]]));
}
