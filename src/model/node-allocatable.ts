import { amountOf } from './capacity-share.ts';
import { parseThresholds } from './eviction-thresholds.ts';
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

/** All that is kept from pods, by resource: both reserves, and what hard eviction keeps free. */
export function nodeReservation(
  capacity: Amounts,
  reserved: Reservations,
  evictionHard: Amounts,
): ReadonlyMap<string, Quantity> {
  const evicted = evictionReservation(evictionHard, capacity);
  const all = Object.keys(capacity)
    // Processes are no resource of a Node.
    .filter((name) => name !== 'pid')
    .map((name) => [name, reservedOf(name, reserved).add(evicted.get(name) ?? Quantity.zero)] as const);
  return new Map(all.filter(([, amount]) => !amount.isZero()));
}

/** A message about each resource of which more is kept than there is; a node like that has no sensible limits. */
export function overReserved(capacity: Amounts, reserved: Reservations, evictionHard: Amounts): readonly string[] {
  return [...nodeReservation(capacity, reserved, evictionHard)].flatMap(([name, kept]) => {
    const there = capacity[name] ?? '0';
    if (Quantity.parse(there).compare(kept) >= 0) return [];
    const amounts = `has a reservation of ${kept.toString()} but capacity of ${there}`;
    return [`Resource "${name}" ${amounts}. Expected capacity >= reservation.`];
  });
}

/** Signals whose hard thresholds are reserved: pods could never use that much. */
const reservedBySignal: Readonly<Record<string, string>> = {
  'memory.available': 'memory',
  'nodefs.available': 'ephemeral-storage',
};

/** The reservation of hard eviction, by resource. */
export function evictionReservation(thresholds: Amounts, capacity: Amounts): ReadonlyMap<string, Quantity> {
  const reserved = new Map<string, Quantity>();
  for (const { signal, value } of parseThresholds({ evictionHard: thresholds })) {
    const resource = reservedBySignal[signal];
    if (resource === undefined) continue;
    reserved.set(resource, amountOf(value, Quantity.parse(capacity[resource] ?? '0')));
  }
  return reserved;
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
