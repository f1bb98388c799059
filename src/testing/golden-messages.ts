import {
  MountPropagation,
  NamespaceMode,
  Protocol,
  SecurityProfile_ProfileType,
  Signal,
  SupplementalGroupsPolicy,
} from '../gen/cri/api.ts';

/** Fields that hold an enum value, which the records write by its name. */
const enums: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  network: NamespaceMode,
  pid: NamespaceMode,
  ipc: NamespaceMode,
  mode: NamespaceMode,
  profileType: SecurityProfile_ProfileType,
  protocol: Protocol,
  propagation: MountPropagation,
  supplementalGroupsPolicy: SupplementalGroupsPolicy,
  stopSignal: Signal,
};

/** Fields that are maps: empty ones are not on the wire, while an empty message is. */
const maps: ReadonlySet<string> = new Set(['labels', 'annotations', 'sysctls', 'unified']);

/** A CRI message the way the records write it: without defaults, wide numbers as text, enums by name, env by key. */
export function asRecorded(message: object): Record<string, unknown> {
  const written: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(message)) {
    const text = fieldAsRecorded(field, value);
    if (text !== undefined) written[field] = text;
  }
  return written;
}

function fieldAsRecorded(field: string, value: unknown): unknown {
  if (value === undefined || value === '' || value === 0 || value === 0n || value === false) return undefined;
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return nameOf(enums[field], value) ?? value;
  if (Array.isArray(value)) return value.length === 0 ? undefined : listAsRecorded(field, value);
  if (Buffer.isBuffer(value)) return value.length === 0 ? undefined : value.toString('utf8');
  if (typeof value !== 'object' || value === null) return value;
  if (!maps.has(field)) return asRecorded(value);
  return Object.keys(value).length === 0 ? undefined : value;
}

function listAsRecorded(field: string, items: readonly unknown[]): unknown {
  const written = items.map((item) => {
    if (typeof item === 'object' && item !== null) return asRecorded(item);
    return typeof item === 'bigint' ? String(item) : item;
  });
  const keyOf = (item: unknown): string => String((item as { key?: string }).key);
  return field === 'envs' ? written.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) : written;
}

function nameOf(values: Readonly<Record<string, number>> | undefined, value: number): string | undefined {
  return Object.entries(values ?? {}).find(([, number]) => number === value)?.[0];
}
