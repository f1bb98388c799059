import type { Node } from '../../gen/kubernetes/types.ts';
import { Quantity } from '../../model/quantity.ts';
import { isExtendedResource, isHugePages } from '../status/resource-names.ts';
import { controllerAttachAnnotation } from './compute-initial-node.ts';

/** Labels of the machine and its location; those of the running agent are used. */
const repairedLabels: readonly string[] = [
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
];

type Amounts = Readonly<Record<string, string>>;

/**
 * An existing node, with the fields that must agree with the running agent. Taints and other labels were for its
 * creation; operators may have changed them since.
 */
export function reconcileExisting(initial: Node, existing: Node, resetExtendedResources: boolean): Node {
  return withResources(initial, withRepairedLabels(initial, withAttachAnnotation(initial, existing)), (name) =>
    resetExtendedResources ? isExtendedResource(name) : false,
  );
}

function withAttachAnnotation(initial: Node, existing: Node): Node {
  const wanted = initial.metadata?.annotations?.[controllerAttachAnnotation];
  const { [controllerAttachAnnotation]: before, ...others } = existing.metadata?.annotations ?? {};
  if (wanted === before) return existing;
  const annotations = wanted === undefined ? others : { ...others, [controllerAttachAnnotation]: wanted };
  return { ...existing, metadata: { ...existing.metadata, annotations } };
}

function withRepairedLabels(initial: Node, existing: Node): Node {
  const labels: Record<string, string> = { ...existing.metadata?.labels };
  for (const label of repairedLabels) {
    const wanted = initial.metadata?.labels?.[label];
    if (wanted === undefined) continue;
    if (wanted === '') delete labels[label];
    else labels[label] = wanted;
  }
  return { ...existing, metadata: { ...existing.metadata, labels } };
}

/** Plugins announce their devices again; huge pages are those of the machine now. */
function withResources(initial: Node, existing: Node, isStale: (name: string) => boolean): Node {
  const reconcile = (known: Amounts | undefined, now: Amounts = {}): Amounts => {
    const amounts = Object.entries(known ?? now).flatMap(([name, amount]): readonly (readonly [string, string])[] => {
      if (isStale(name)) return [[name, '0']];
      if (!isHugePages(name)) return [[name, amount]];
      const present = now[name];
      return present === undefined ? [] : [[name, isEqual(amount, present) ? amount : present]];
    });
    const added = Object.entries(now).filter(([name]) => isHugePages(name) && known?.[name] === undefined);
    return Object.fromEntries([...amounts, ...added]);
  };
  const { capacity, allocatable } = existing.status ?? {};
  return {
    ...existing,
    status: {
      ...existing.status,
      capacity: reconcile(capacity, initial.status?.capacity),
      allocatable: reconcile(allocatable, initial.status?.allocatable),
    },
  };
}

function isEqual(a: string, b: string): boolean {
  return Quantity.parse(a).compare(Quantity.parse(b)) === 0;
}
