import type { CgroupOwner, CgroupUsage, UsageSnapshot } from '../../model/usage.ts';
import { sandboxName } from './cgroup-subject.ts';

/** What the page /metrics/resource has of the node, a pod or a container. */
export interface ResourceValues {
  readonly at: number;
  readonly startedAt: number | undefined;
  readonly cpuNs: number | undefined;
  readonly workingSet: number | undefined;
  readonly swap: number | undefined;
  readonly swapLimit: number | undefined;
}

export interface OwnedResourceValues extends ResourceValues {
  readonly owner: CgroupOwner;
}

interface NodeResourceValues {
  readonly node: ResourceValues | undefined;
  readonly pods: readonly OwnedResourceValues[];
  readonly containers: readonly OwnedResourceValues[];
}

/**
 * The node, pods and containers of the page. Its labels have neither uids nor ids, so of several containers, or
 * pods, of one name only the newest is there: the others are over.
 */
export function resourceValues(snapshot: Pick<UsageSnapshot, 'cgroups'>): NodeResourceValues {
  const root = snapshot.cgroups.find(({ usage }) => usage.path === '/');
  const containers = new Newest();
  const pods = new Newest();
  const whole = new Set<string>();
  const parts: OwnedResourceValues[] = [];
  for (const { usage, owner } of snapshot.cgroups) {
    if (owner === undefined) continue;
    const values = sizesOf(usage, owner);
    if (owner.container === '') {
      whole.add(owner.podUid);
      pods.add(podKey(owner), values);
      continue;
    }
    if (owner.container !== sandboxName) containers.add(`${podKey(owner)}/${owner.container}`, values);
    parts.push(values);
  }
  for (const sum of sums(parts.filter(({ owner }) => !whole.has(owner.podUid)))) pods.add(podKey(sum.owner), sum);
  return { node: root && sizesOf(root.usage, undefined), pods: pods.all(), containers: containers.all() };
}

/** Where pods have no cgroup of their own, a pod is the sum of what is in it. */
function sums(parts: readonly OwnedResourceValues[]): Iterable<OwnedResourceValues> {
  const byUid = new Map<string, OwnedResourceValues>();
  for (const values of parts) {
    const uid = values.owner.podUid;
    const others = byUid.get(uid);
    byUid.set(uid, others === undefined ? values : together(others, values));
  }
  return byUid.values();
}

const podKey = ({ namespace, pod }: CgroupOwner): string => `${namespace}/${pod}`;

function sizesOf<O extends CgroupOwner | undefined>(
  { at, createdAt, cpu, memory, limits }: CgroupUsage,
  owner: O,
): ResourceValues & { readonly owner: O } {
  return {
    owner,
    at,
    startedAt: createdAt,
    cpuNs: cpu?.totalNs,
    workingSet: memory?.workingSet,
    swap: memory?.swap,
    swapLimit: limits.memorySwap,
  };
}

function together(a: OwnedResourceValues, b: OwnedResourceValues): OwnedResourceValues {
  return {
    owner: a.owner,
    at: Math.max(a.at, b.at),
    startedAt: Math.max(a.startedAt ?? 0, b.startedAt ?? 0),
    cpuNs: add(a.cpuNs, b.cpuNs),
    workingSet: add(a.workingSet, b.workingSet),
    swap: add(a.swap, b.swap),
    swapLimit: undefined,
  };
}

/** The sum of the known ones; undefined when neither is known. */
function add(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0);
}

/** The one that began last, by key. */
class Newest {
  readonly #byKey = new Map<string, OwnedResourceValues>();

  add(key: string, values: OwnedResourceValues): void {
    const other = this.#byKey.get(key);
    if (other === undefined || (values.startedAt ?? 0) >= (other.startedAt ?? 0)) this.#byKey.set(key, values);
  }

  all(): readonly OwnedResourceValues[] {
    return [...this.#byKey.values()];
  }
}
