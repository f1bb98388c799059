import type { Amounts } from '../../model/node-allocatable.ts';
import { Quantity } from '../../model/quantity.ts';

/** Signals whose hard thresholds are reserved: pods could never use that much. */
const reservedBySignal: Readonly<Record<string, string>> = {
  'memory.available': 'memory',
  'nodefs.available': 'ephemeral-storage',
};

/** The reservation of hard eviction, by resource. */
export function evictionReservation(thresholds: Amounts, capacity: Amounts): ReadonlyMap<string, Quantity> {
  const reserved = new Map<string, Quantity>();
  for (const [signal, threshold] of Object.entries(thresholds)) {
    const resource = reservedBySignal[signal];
    // These two disable a signal.
    if (resource === undefined || threshold === '0%' || threshold === '100%') continue;
    reserved.set(resource, amountOf(threshold, Quantity.parse(capacity[resource] ?? '0')));
  }
  return reserved;
}

/** The fraction has 32 bits, and bytes are truncated, so that the result equals the Go kubelet's. */
function amountOf(threshold: string, capacity: Quantity): Quantity {
  if (!threshold.endsWith('%')) return Quantity.parse(threshold);
  const fraction = Math.fround(Math.fround(Number.parseFloat(threshold)) / 100);
  return Quantity.ofValue(BigInt(Math.trunc(Number(capacity.value()) * fraction)), 'binarySI');
}
