import type { Container } from '../gen/kubernetes/types.ts';
import { goJson } from './go-text.ts';

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;

/**
 * The identity of a container's definition, kept as an annotation on the container: when name or image change, the
 * running container no longer is what the pod asks for. Another kubelet on the same node computes the same value, so
 * that swapping kubelets restarts nothing; hence the detour over the printed form of the bytes.
 */
export function containerHash(container: Pick<Container, 'name' | 'image'>): string {
  const json = goJson({ image: container.image ?? '', name: container.name });
  const printed = `([]uint8)[${[...Buffer.from(json)].join(' ')}]`;
  return fnv1a32(printed).toString(16);
}

function fnv1a32(text: string): number {
  let hash = offsetBasis;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, prime) >>> 0;
  return hash >>> 0;
}
