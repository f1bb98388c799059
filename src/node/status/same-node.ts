import type { Node } from '../../gen/kubernetes/types.ts';

/** Whether two nodes are equal except for heartbeat times. Spec is not compared, because the agent never writes it. */
export function isSameNode(a: Node, b: Node): boolean {
  return isSame(comparable(a), comparable(b));
}

function comparable({ metadata, status }: Node): unknown {
  const conditions = status?.conditions
    ?.map((condition) => ({ ...condition, lastHeartbeatTime: undefined }))
    .toSorted((one, other) => (one.type < other.type ? -1 : 1));
  return { labels: metadata?.labels, annotations: metadata?.annotations, status: { ...status, conditions } };
}

/** The API leaves out what is empty, or writes it: both mean the same. */
function isSame(a: unknown, b: unknown): boolean {
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  }
  if (!isMap(a) || !isMap(b)) return a === b;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((field) => isSame(a[field], b[field]));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isMap(value) && Object.values(value).every(isEmpty);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
