import { messageOf } from '../../base/errors.ts';
import { idMappings, type UserNamespaceBlock } from '../../model/namespaces.ts';
import { idUnit } from './id-blocks.ts';

/** Name and content of the record in a pod's directory are those of the Go kubelet: either reads the other's. */
export const recordName = 'userns';

type ParsedRecord = { readonly block: UserNamespaceBlock } | { readonly problem: string };

export function formatRecord(block: UserNamespaceBlock): string {
  const mappings = idMappings(block).map(({ hostId, containerId, length }) => ({ hostId, containerId, length }));
  return JSON.stringify({ uidMappings: mappings, gidMappings: mappings });
}

/** Users and groups have one mapping each, the same, from the pod's root on: no kubelet writes anything else. */
export function parseRecord(text: string): ParsedRecord {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    return { problem: text === '' ? 'it is empty' : `it is not JSON: ${messageOf(error)}` };
  }
  const users = onlyMapping(content, 'uidMappings');
  if ('problem' in users) return users;
  const groups = onlyMapping(content, 'gidMappings');
  if ('problem' in groups) return groups;
  const { hostId, length } = users.block;
  if (groups.block.hostId !== hostId || groups.block.length !== length) {
    return { problem: 'uidMappings and gidMappings differ' };
  }
  return users;
}

function onlyMapping(content: unknown, name: string): ParsedRecord {
  const list = fieldOf(content, name);
  const mapping: unknown = Array.isArray(list) && list.length === 1 ? list[0] : undefined;
  if (mapping === undefined) return { problem: `${name} is not a list of one` };
  const [hostId, containerId, length] = ['hostId', 'containerId', 'length'].map((field) => fieldOf(mapping, field));
  if (containerId !== 0) return { problem: `${name} does not begin at the pod's root` };
  if (!isMultipleOfUnit(hostId) || !isMultipleOfUnit(length)) {
    return { problem: `hostId and length of ${name} are not multiples of ${idUnit} above 0` };
  }
  return { block: { hostId, length } };
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function isMultipleOfUnit(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value % idUnit === 0;
}
