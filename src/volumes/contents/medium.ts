import { TubeletError } from '../../base/errors.ts';
import type { EmptyDirVolumeSource, PodSpec } from '../../gen/kubernetes/types.ts';
import { isHugePages } from '../../model/pod-resource-totals.ts';
import { podLimits } from '../../model/pod-resources.ts';
import { Quantity } from '../../model/quantity.ts';

/** The disk, or a file system in memory. */
export type StorageMedium =
  | { readonly kind: 'disk' }
  | { readonly kind: 'mount'; readonly fsType: 'tmpfs' | 'hugetlbfs'; readonly options: readonly string[] };

export const disk: StorageMedium = { kind: 'disk' };

export interface MemoryFacts {
  /** What all pods of the node may have of a resource. */
  readonly allocatable: Readonly<Record<string, string>>;
  /** The kernel can keep a tmpfs out of swap. */
  readonly noSwap: boolean;
}

/** A tmpfs without swap, limited by its own limit, the pod's memory limit and the node's allocatable memory. */
export function memoryMedium(spec: PodSpec, sizeLimit: string | undefined, facts: MemoryFacts): StorageMedium {
  const bounds = [facts.allocatable['memory'], memoryLimitOf(spec), sizeLimit]
    .filter((text) => text !== undefined)
    .map((text) => Quantity.parse(text).value())
    .filter((bytes) => bytes > 0n);
  const size = bounds.reduce<bigint | undefined>(
    (min, each) => (min === undefined || each < min ? each : min),
    undefined,
  );
  return {
    kind: 'mount',
    fsType: 'tmpfs',
    options: [...(size === undefined ? [] : [`size=${size}`]), ...(facts.noSwap ? ['noswap'] : [])],
  };
}

/** The sum of the containers' limits bounds the pod only when each of them has one. */
function memoryLimitOf(spec: PodSpec): string | undefined {
  const limited = [...spec.containers, ...(spec.initContainers ?? [])].every(
    ({ resources }) => resources?.limits?.['memory'] !== undefined,
  );
  if (!limited && spec.resources?.limits?.['memory'] === undefined) return undefined;
  return podLimits(spec, { overhead: true }).get('memory')?.toString();
}

const hugePages = 'HugePages';

/** The medium of an emptyDir. A pod that mounts huge pages must request them. */
export function emptyDirMedium(source: EmptyDirVolumeSource, spec: PodSpec, facts: MemoryFacts): StorageMedium {
  const { medium = '', sizeLimit } = source;
  if (medium === '') return disk;
  if (medium === 'Memory') return memoryMedium(spec, sizeLimit, facts);
  if (medium !== hugePages && !medium.startsWith(`${hugePages}-`)) {
    throw new TubeletError('invalid', `unknown storage medium "${medium}"`);
  }
  // No size: the pod's cgroups limit huge pages, and a mapping may be larger than what is used of it.
  return { kind: 'mount', fsType: 'hugetlbfs', options: [`pagesize=${pageSize(medium, spec)}`] };
}

/** The size that the medium names or, where it names none, the only one that the pod requests. */
function pageSize(medium: string, spec: PodSpec): string {
  const asked = pageSizes(spec);
  if (medium === hugePages && asked.size > 1) {
    throw new TubeletError('invalid', `medium: ${medium} can't be used if container requests multiple huge page sizes`);
  }
  const size =
    medium === hugePages
      ? [...asked.values()][0]
      : asked.get(Quantity.parse(medium.slice(hugePages.length + 1)).value());
  if (size !== undefined) return size;
  const message = 'hugePages storage requested, but there is no resource request for huge pages';
  throw new TubeletError('invalid', `medium ${medium}: ${message}`);
}

/** Bytes → size in its shortest form, of the pod, its containers and init containers. */
function pageSizes({ resources, containers, initContainers = [] }: PodSpec): ReadonlyMap<bigint, string> {
  const asked = [resources, ...[...containers, ...initContainers].map((container) => container.resources)];
  // The request of huge pages equals their limit.
  const names = asked.flatMap((each) => Object.keys({ ...each?.requests, ...each?.limits })).filter(isHugePages);
  const sizes = names.map((name) => Quantity.parse(name.slice('hugepages-'.length)));
  return new Map(sizes.map((size) => [size.value(), size.toString()]));
}
