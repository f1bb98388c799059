import type { Volume } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { EvictionSignal } from '../model/eviction-thresholds.ts';
import { aggregateResources } from '../model/pod-resource-totals.ts';
import { Quantity } from '../model/quantity.ts';
import type { FsStats, PodStats } from '../model/stats-summary.ts';

/**
 * Where writable layers and images are.
 *
 *   single   all on the disk of the root directory
 *   imagefs  images and writable layers on a disk of their own
 *   split    only images on a disk of their own
 */
export type DiskLayout = 'single' | 'imagefs' | 'split';

export interface Candidate {
  readonly pod: DesiredPod;
  /** Undefined for a pod that has not been measured. */
  readonly stats: PodStats | undefined;
}

type Order = (a: Candidate, b: Candidate) => number;
type Measure = (candidate: Candidate) => Quantity;

/** The pod to evict first comes first. Pods between which nothing decides keep their order. */
export function rankPods(
  candidates: readonly Candidate[],
  signal: EvictionSignal,
  layout: DiskLayout,
): readonly Candidate[] {
  const orders = ordersOf(signal, layout);
  return candidates.toSorted((a, b) => {
    for (const order of orders) {
      const result = order(a, b);
      if (result !== 0) return result;
    }
    return 0;
  });
}

function ordersOf(signal: EvictionSignal, layout: DiskLayout): readonly Order[] {
  if (signal === 'pid.available') return [byPriority, unmeasuredFirst, descendingBy(processes)];
  if (signal === 'memory.available' || signal === 'allocatableMemory.available') {
    return byRequest(memory, (candidate) => requestOf(candidate, 'memory'));
  }
  const parts = partsOf(signal, layout);
  const storage: Measure = (candidate) => requestOf(candidate, 'ephemeral-storage');
  if (signal.endsWith('.available')) return byRequest((candidate) => used(candidate, parts, 'usedBytes'), storage);
  // Inodes have no requests; that the amount of storage counts in the end is as at other kubelets.
  return byRequest(
    (candidate) => used(candidate, parts, 'inodesUsed'),
    () => Quantity.zero,
    storage,
  );
}

/** Who uses more than was asked for goes before those who keep to it, then the less important, then the greediest. */
function byRequest(usage: Measure, request: Measure, subtracted = request): readonly Order[] {
  const exceeds = (candidate: Candidate): boolean =>
    candidate.stats !== undefined && usage(candidate).compare(request(candidate)) > 0;
  return [
    unmeasuredFirst,
    (a, b) => Number(exceeds(b)) - Number(exceeds(a)),
    byPriority,
    descendingBy((candidate) => usage(candidate).sub(subtracted(candidate))),
  ];
}

const unmeasuredFirst: Order = (a, b) => Number(b.stats === undefined) - Number(a.stats === undefined);
const byPriority: Order = (a, b) => (a.pod.spec.priority ?? 0) - (b.pod.spec.priority ?? 0);
/** Between pods that have not been measured only their importance decides. */
const descendingBy =
  (measure: Measure): Order =>
  (a, b) =>
    a.stats === undefined || b.stats === undefined ? 0 : measure(b).compare(measure(a));

const memory: Measure = ({ stats }) => amount(stats?.memory?.workingSetBytes);
const processes: Measure = ({ stats }) => amount(stats?.process_stats?.process_count);

/** A pod with resources of its own counts by these alone. */
function requestOf({ pod: { spec } }: Candidate, resource: string): Quantity {
  const own = spec.resources;
  const asked =
    own === undefined
      ? (aggregateResources(spec, 'requests').get(resource) ?? Quantity.zero)
      : Quantity.parse(own.requests?.[resource] ?? '0');
  return asked.isZero() ? asked : asked.add(Quantity.parse(spec.overhead?.[resource] ?? '0'));
}

interface DiskParts {
  readonly rootfs: boolean;
  /** Logs, and volumes on the node's disk. */
  readonly others: boolean;
}

/** What of a pod lies on the disk that is short. */
function partsOf(signal: EvictionSignal, layout: DiskLayout): DiskParts {
  if (layout === 'single') return { rootfs: true, others: true };
  const ofImages = signal.startsWith('imagefs.');
  if (layout === 'split') return { rootfs: !ofImages, others: !ofImages };
  const ofNode = signal.startsWith('nodefs.');
  return { rootfs: !ofNode, others: ofNode };
}

function used({ pod, stats }: Candidate, parts: DiskParts, what: 'usedBytes' | 'inodesUsed'): Quantity {
  const local = new Set((pod.spec.volumes ?? []).filter(isLocal).map(({ name }) => name));
  const onDisk: readonly (FsStats | undefined)[] = [
    ...(parts.rootfs ? (stats?.containers ?? []).map(({ rootfs }) => rootfs) : []),
    ...(parts.others ? (stats?.containers ?? []).map(({ logs }) => logs) : []),
    ...(parts.others ? (stats?.volume ?? []).filter(({ name }) => local.has(name)) : []),
  ];
  return onDisk.map((one) => amount(one?.[what])).reduce((sum, one) => sum.add(one), Quantity.zero);
}

function isLocal({ hostPath, emptyDir, configMap, gitRepo }: Volume): boolean {
  const onDisk = emptyDir !== undefined && (emptyDir.medium ?? '') === '';
  return onDisk || hostPath !== undefined || configMap !== undefined || gitRepo !== undefined;
}

const amount = (figure: number | undefined): Quantity => Quantity.ofValue(BigInt(Math.trunc(figure ?? 0)), 'binarySI');
