import { TubeletError } from '../../base/errors.ts';
import type { EmptyDirVolumeSource, PodSpec } from '../../gen/kubernetes/types.ts';
import { isHugePages } from '../../model/pod-resource-totals.ts';
import { podLimits } from '../../model/pod-resources.ts';
import { Quantity } from '../../model/quantity.ts';

/** What the folder of a volume is on. */
export type Medium =
  | { readonly kind: 'disk' }
  | { readonly kind: 'mount'; readonly fsType: 'tmpfs' | 'hugetlbfs'; readonly options: readonly string[] };

export const disk: Medium = { kind: 'disk' };

export interface MemoryFacts {
  /** What all pods of the node may have of a resource. */
  readonly allocatable: Readonly<Record<string, string>>;
  /** The kernel can keep a tmpfs out of swap. */
  readonly noSwap: boolean;
}

/** Memory that holds no more than its limit, the pod's limit and what pods have on this node; never swapped out. */
export function memoryMedium(spec: PodSpec, sizeLimit: string | undefined, facts: MemoryFacts): Medium {
  const bounds = [facts.allocatable['memory'], memoryLimitOf(spec), sizeLimit]
    .filter((text) => text !== undefined)
    .map((text) => Quantity.parse(text).value())
    .filter((bytes) => bytes > 0n);
  const size = bounds.reduce<bigint | undefined>(
    (least, each) => (least === undefined || each < least ? each : least),
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

/** The medium of an emptyDir. A pod that mounts huge pages must have asked for them. */
export function emptyDirMedium(source: EmptyDirVolumeSource, spec: PodSpec, facts: MemoryFacts): Medium {
  const { medium = '', sizeLimit } = source;
  if (medium === '') return disk;
  if (medium === 'Memory') return memoryMedium(spec, sizeLimit, facts);
  if (medium !== hugePages && !medium.startsWith(`${hugePages}-`)) {
    throw new TubeletError('invalid', `unknown storage medium "${medium}"`);
  }
  const size = medium === hugePages ? onlyPageSize(spec) : medium.slice(hugePages.length + 1);
  const limit = podLimits(spec, { overhead: false }).get(`hugepages-${size}`);
  if (limit === undefined || limit.isZero()) {
    throw new TubeletError('invalid', `the pod has no limit of hugepages-${size}, which the medium "${medium}" needs`);
  }
  return { kind: 'mount', fsType: 'hugetlbfs', options: [`pagesize=${size}`, `size=${limit.value()}`] };
}

function onlyPageSize(spec: PodSpec): string {
  const sizes = [...podLimits(spec, { overhead: false }).keys()].filter(isHugePages);
  const [size] = sizes;
  if (size === undefined) {
    throw new TubeletError('invalid', 'the medium "HugePages" needs a limit of huge pages, and the pod has none');
  }
  if (sizes.length > 1) {
    throw new TubeletError('invalid', 'the pod has huge pages of several sizes: name one, as in "HugePages-2Mi"');
  }
  return size.slice('hugepages-'.length);
}
