/**
 * `change` writes what differs, `refuse` fails the start (protectKernelDefaults), `keep` leaves the kernel to its owner.
 */
export type TunablesMode = 'change' | 'refuse' | 'keep';

/** Memory is promised by limits and not by the kernel; out of memory, one container dies; a broken kernel starts anew. */
export const wantedTunables: ReadonlyMap<string, string> = new Map([
  ['vm/overcommit_memory', '1'],
  ['vm/panic_on_oom', '0'],
  ['kernel/panic', '10'],
  ['kernel/panic_on_oops', '1'],
  // Each container has keys of its own, and all of them belong to root.
  ['kernel/keys/root_maxkeys', '1000000'],
  ['kernel/keys/root_maxbytes', '25000000'],
]);

export type Reading = { readonly value: string } | { readonly error: string };

export interface TunablesPlan {
  readonly writes: readonly { readonly name: string; readonly from: string; readonly to: string }[];
  readonly faults: readonly string[];
}

/** Pure. A value that the kernel has already is not written. */
export function planTunables(readings: ReadonlyMap<string, Reading>, mode: TunablesMode): TunablesPlan {
  if (mode === 'keep') return { writes: [], faults: [] };
  const writes: TunablesPlan['writes'][number][] = [];
  const faults: string[] = [];
  for (const [name, reading] of readings) {
    const to = wantedTunables.get(name) ?? '';
    if ('error' in reading) faults.push(reading.error);
    else if (reading.value === to) continue;
    else if (mode === 'change') writes.push({ name, from: reading.value, to });
    else faults.push(`invalid kernel flag: ${name}, expected value: ${to}, actual value: ${reading.value}`);
  }
  return { writes, faults };
}

/** Pure: one fault as it is, several in brackets. */
export function faultText(faults: readonly string[]): string {
  const [first = '', ...rest] = faults;
  return rest.length === 0 ? first : `[${faults.join(', ')}]`;
}
