import type { Toleration } from '../../gen/kubernetes/types.ts';
import type { NodeTaint } from '../../model/admission-node.ts';

export function tolerates(tolerations: readonly Toleration[] | undefined, taint: NodeTaint): boolean {
  return (tolerations ?? []).some((toleration) => matches(toleration, taint));
}

/** An empty effect matches all effects, an empty key all keys. */
function matches({ key, operator, value, effect }: Toleration, taint: NodeTaint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  if (operator && operator !== 'Equal') return false;
  return (value ?? '') === (taint.value ?? '');
}
