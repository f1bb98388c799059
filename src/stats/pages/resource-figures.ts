import type { CgroupOwner, CgroupUsage, UsageSnapshot } from '../../model/usage.ts';
import { sandboxName } from './cgroup-subject.ts';

/** What the page /metrics/resource tells of somebody. */
export interface Figures {
  readonly at: number;
  readonly startedAt: number | undefined;
  readonly cpuNs: number | undefined;
  readonly workingSet: number | undefined;
  readonly swap: number | undefined;
  readonly swapLimit: number | undefined;
}

export interface OwnedFigures extends Figures {
  readonly owner: CgroupOwner;
}

interface ResourceFigures {
  readonly node: Figures | undefined;
  readonly pods: readonly OwnedFigures[];
  readonly containers: readonly OwnedFigures[];
}

/**
 * Who is told, and with which figures. The labels of that page know neither uids nor ids, so of several containers, or
 * pods, of one name only the newest is there: the others are over.
 */
export function resourceFigures(snapshot: Pick<UsageSnapshot, 'cgroups'>): ResourceFigures {
  const root = snapshot.cgroups.find(({ usage }) => usage.path === '/');
  const containers = new Newest();
  const pods = new Newest();
  const whole = new Set<string>();
  const parts: OwnedFigures[] = [];
  for (const { usage, owner } of snapshot.cgroups) {
    if (owner === undefined) continue;
    const figures = figuresOf(usage, owner);
    if (owner.container === '') {
      whole.add(owner.podUid);
      pods.add(podKey(owner), figures);
      continue;
    }
    if (owner.container !== sandboxName) containers.add(`${podKey(owner)}/${owner.container}`, figures);
    parts.push(figures);
  }
  for (const sum of sums(parts.filter(({ owner }) => !whole.has(owner.podUid)))) pods.add(podKey(sum.owner), sum);
  return { node: root && figuresOf(root.usage, undefined), pods: pods.all(), containers: containers.all() };
}

/** Where pods have no cgroup of their own, a pod is the sum of what is in it. */
function sums(parts: readonly OwnedFigures[]): Iterable<OwnedFigures> {
  const byUid = new Map<string, OwnedFigures>();
  for (const figures of parts) {
    const uid = figures.owner.podUid;
    const others = byUid.get(uid);
    byUid.set(uid, others === undefined ? figures : together(others, figures));
  }
  return byUid.values();
}

const podKey = ({ namespace, pod }: CgroupOwner): string => `${namespace}/${pod}`;

function figuresOf<O extends CgroupOwner | undefined>(
  { at, createdAt, cpu, memory, limits }: CgroupUsage,
  owner: O,
): Figures & { readonly owner: O } {
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

function together(a: OwnedFigures, b: OwnedFigures): OwnedFigures {
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

/** What is known of the two; nothing when neither is. */
function add(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0);
}

/** The one that began last, by key. */
class Newest {
  readonly #byKey = new Map<string, OwnedFigures>();

  add(key: string, figures: OwnedFigures): void {
    const other = this.#byKey.get(key);
    if (other === undefined || (figures.startedAt ?? 0) >= (other.startedAt ?? 0)) this.#byKey.set(key, figures);
  }

  all(): readonly OwnedFigures[] {
    return [...this.#byKey.values()];
  }
}
