import type { Node } from '../gen/kubernetes/types.ts';

const ttlAnnotation = 'node.alpha.kubernetes.io/ttl';
const defaultTtlSeconds = 60;

/**
 * How old a cached object may be, by configMapAndSecretChangeDetectionStrategy: `Get` reads each time, `Cache` after the
 * time that the control plane sets by the size of the cluster.
 */
export function maxObjectAgeMs(strategy: string, node: Node | undefined): number {
  return strategy === 'Get' ? 0 : ttlSeconds(node) * 1_000;
}

function ttlSeconds(node: Node | undefined): number {
  const seconds = Number(node?.metadata?.annotations?.[ttlAnnotation] ?? Number.NaN);
  return Number.isInteger(seconds) && seconds >= 0 ? seconds : defaultTtlSeconds;
}
