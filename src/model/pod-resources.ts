import type { Container, PodSpec } from '../gen/kubernetes/types.ts';
import { aggregateResources, isHugePages, type ResourceTotals } from './pod-resource-totals.ts';
import { Quantity } from './quantity.ts';

export type { ResourceTotals } from './pod-resource-totals.ts';

interface TotalsOptions {
  /** Adds the overhead of the sandbox (`spec.overhead`). */
  readonly overhead: boolean;
}

/** The requests that scheduler and cgroups count for a pod: pod-level ones where it has them, else those of containers. */
export function podRequests(spec: PodSpec, options: TotalsOptions): ResourceTotals {
  const totals = new Map(aggregateResources(spec, 'requests'));
  override(totals, spec.resources?.requests);
  if (options.overhead) {
    for (const [name, text] of Object.entries(spec.overhead ?? {})) {
      totals.set(name, (totals.get(name) ?? Quantity.zero).add(Quantity.parse(text)));
    }
  }
  return totals;
}

export function podLimits(spec: PodSpec, options: TotalsOptions): ResourceTotals {
  const totals = new Map(aggregateResources(spec, 'limits'));
  override(totals, spec.resources?.limits);
  if (options.overhead) {
    // Overhead is added to a limit only where there is one.
    for (const [name, text] of Object.entries(spec.overhead ?? {})) {
      const limit = totals.get(name);
      if (limit !== undefined && !limit.isZero()) totals.set(name, limit.add(Quantity.parse(text)));
    }
  }
  return totals;
}

/** Resources that pod-level requests and limits may name. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePages(name);
}

export function hasPodLevelResources(spec: PodSpec): boolean {
  const { requests = {}, limits = {} } = spec.resources ?? {};
  return [...Object.keys(requests), ...Object.keys(limits)].some(isPodLevelResource);
}

/** The request of a container, or `undefined` where it has none. */
export function containerRequest(container: Container, resource: string): Quantity | undefined {
  return parsed(container.resources?.requests?.[resource]);
}

/** The own limit of a container, or `undefined` where it has none. */
export function containerLimit(container: Container, resource: string): Quantity | undefined {
  return parsed(container.resources?.limits?.[resource]);
}

/** The limit that binds a container: its own, else the one of the whole pod. */
export function effectiveLimit(spec: PodSpec, container: Container, resource: string): Quantity {
  const own = containerLimit(container, resource);
  if (own !== undefined && !own.isZero()) return own;
  return parsed(spec.resources?.limits?.[resource]) ?? own ?? Quantity.zero;
}

function parsed(text: string | undefined): Quantity | undefined {
  return text === undefined ? undefined : Quantity.parse(text);
}

function override(totals: Map<string, Quantity>, amounts: Readonly<Record<string, string>> = {}): void {
  for (const [name, text] of Object.entries(amounts)) {
    if (isPodLevelResource(name)) totals.set(name, Quantity.parse(text));
  }
}
