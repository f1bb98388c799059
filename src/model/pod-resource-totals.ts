import type { Container, PodSpec } from '../gen/kubernetes/types.ts';
import { Quantity } from './quantity.ts';

/** Resource → amount. */
export type ResourceTotals = ReadonlyMap<string, Quantity>;

export function isHugePages(resource: string): boolean {
  return resource.startsWith('hugepages-');
}

/** Whether requests may be lower than limits: not for huge pages and devices, which are handed over whole. */
export function isOvercommitable(resource: string): boolean {
  const native = !resource.includes('/') || resource.includes('kubernetes.io/');
  return native && !isHugePages(resource);
}

/**
 * The most that the containers of a pod need at one time. Sidecars run beside all containers that start after them; plain
 * init containers run one by one, before the others.
 */
export function aggregateResources(spec: PodSpec, kind: 'requests' | 'limits'): ResourceTotals {
  const total = new Map<string, Quantity>();
  const sidecars = new Map<string, Quantity>();
  const peakOfInit = new Map<string, Quantity>();
  for (const container of spec.containers) add(total, amountsOf(container, kind));
  for (const container of spec.initContainers ?? []) {
    const own = amountsOf(container, kind);
    if (container.restartPolicy === 'Always') {
      add(total, own);
      add(sidecars, own);
      raise(peakOfInit, sidecars);
    } else {
      const beside = new Map(sidecars);
      add(beside, own);
      raise(peakOfInit, beside);
    }
  }
  raise(total, peakOfInit);
  return total;
}

function amountsOf(container: Container, kind: 'requests' | 'limits'): readonly (readonly [string, Quantity])[] {
  return Object.entries(container.resources?.[kind] ?? {}).map(([name, text]) => [name, parseOrZero(text)] as const);
}

/** The API keeps thousandths; a smaller part is rounded up. A text that is no amount is left for validation to report. */
export function roundUpToMilli(text: string): string {
  const exact = parseOrZero(text);
  const rounded = Quantity.ofMilli(exact.milliValue());
  return rounded.compare(exact) === 0 ? text : rounded.toString();
}

/** Defaulting runs before validation, which reports a malformed amount by its path; here it counts for nothing. */
function parseOrZero(text: string): Quantity {
  try {
    return Quantity.parse(text);
  } catch {
    return Quantity.zero;
  }
}

function add(into: Map<string, Quantity>, amounts: Iterable<readonly [string, Quantity]>): void {
  for (const [name, amount] of amounts) into.set(name, (into.get(name) ?? Quantity.zero).add(amount));
}

function raise(into: Map<string, Quantity>, amounts: Iterable<readonly [string, Quantity]>): void {
  for (const [name, amount] of amounts) {
    const present = into.get(name);
    if (present === undefined || present.compare(amount) < 0) into.set(name, amount);
  }
}
