import { Quantity } from './quantity.ts';

/** Resource → quantity, as in configuration and Node objects. */
export type Amounts = Readonly<Record<string, string>>;

/** The node's reserved resources: for the kubelet and runtime, and for the system. */
export interface Reservations {
  readonly kube: Amounts;
  readonly system: Amounts;
}

/** CPUs reserved by number replace both reservations of CPU time: all count for the system, none for the kubelet. */
export function reservationsOf(kube: Amounts, system: Amounts, reservedCpus: string): Reservations {
  if (reservedCpus === '') return { kube, system };
  const { cpu: _, ...others } = kube;
  return { kube: others, system: { ...system, cpu: String(cpuCount(reservedCpus)) } };
}

/** What is left for pods: capacity less both reserves, never less than nothing. */
export function nodeAllocatable(capacity: Amounts, reserved: Reservations): Amounts {
  return Object.fromEntries(
    Object.entries(capacity).map(([name, amount]) => {
      const left = Quantity.parse(amount).sub(reservedOf(name, reserved));
      return [name, left.sign() < 0 ? '0' : left.toString()];
    }),
  );
}

/** A message about each reserve that exceeds the node's capacity; a node like that has no sensible limits. */
export function overReserved(capacity: Amounts, reserved: Reservations): readonly string[] {
  return Object.entries(capacity).flatMap(([name, amount]) => {
    const kept = reservedOf(name, reserved);
    if (Quantity.parse(amount).compare(kept) >= 0) return [];
    return [`Resource "${name}" has a reservation of ${kept.toString()} but capacity of ${amount}.`];
  });
}

function reservedOf(name: string, { kube, system }: Reservations): Quantity {
  return Quantity.parse(system[name] ?? '0').add(Quantity.parse(kube[name] ?? '0'));
}

/** How many CPUs a list such as `0-1,4` names. */
function cpuCount(list: string): number {
  const cpus = list.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
  return new Set(cpus).size;
}
