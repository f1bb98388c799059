import type { Handler, RouteSpec } from '../route.ts';
import { routeTable, type Handlers, type RouteId } from '../route-table.ts';

/** An endpoint with what answers it. */
export interface BoundRoute {
  readonly spec: RouteSpec;
  readonly handler: Handler;
}

export interface FoundRoute extends BoundRoute {
  /** What stands for the names in the path. */
  readonly params: Readonly<Record<string, string>>;
}

export type RouteMatcher = (segments: readonly string[]) => FoundRoute | undefined;

/** The whole table with its handlers. */
export function bindRoutes(handlers: Handlers): readonly BoundRoute[] {
  return (Object.keys(routeTable) as RouteId[]).map((id) => ({ spec: routeTable[id], handler: handlers[id] }));
}

type Part =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'one'; readonly name: string }
  | { readonly kind: 'rest'; readonly name: string };

interface Pattern {
  readonly route: BoundRoute;
  readonly parts: readonly Part[];
}

/** Finds the route for the segments of a path; where several fit, the one that leaves least open. */
export function routeMatcher(routes: readonly BoundRoute[]): RouteMatcher {
  const patterns = routes
    .map((route): Pattern => ({ route, parts: partsOf(route.spec.path) }))
    .toSorted((a, b) => compareParts(a.parts, b.parts));
  return (segments) => {
    for (const { route, parts } of patterns) {
      const params = paramsOf(parts, segments);
      if (params !== undefined) return { ...route, params };
    }
    return undefined;
  };
}

function partsOf(path: string): readonly Part[] {
  return path
    .split('/')
    .slice(1)
    .map((text): Part => {
      const [, name, dots] = /^\{(\w+)(\.\.\.)?\}$/.exec(text) ?? [];
      if (name === undefined) return { kind: 'literal', text };
      return { kind: dots === undefined ? 'one' : 'rest', name };
    });
}

const openness = { literal: 0, one: 1, rest: 2 } as const;

/** Of two that fit, the one with the literal first; one that ends comes before one that goes on with a rest. */
function compareParts(a: readonly Part[], b: readonly Part[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [one, other] = [a[at], b[at]];
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1;
    const difference = openness[one.kind] - openness[other.kind];
    if (difference !== 0) return difference;
  }
  return 0;
}

function paramsOf(parts: readonly Part[], segments: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (const [at, part] of parts.entries()) {
    if (part.kind === 'rest') {
      const rest = segments.slice(at);
      if (rest.includes('')) return undefined;
      params[part.name] = rest.join('/');
      return params;
    }
    const segment = segments[at];
    if (segment === undefined || segment === '') return undefined;
    if (part.kind === 'one') params[part.name] = segment;
    else if (part.text !== segment) return undefined;
  }
  return parts.length === segments.length ? params : undefined;
}
