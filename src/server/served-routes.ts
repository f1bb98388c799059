import type { Component } from '../base/component.ts';
import { bindRoutes, type BoundRoute } from './listener/match-route.ts';
import { routeTable, type Handlers, type RouteId } from './route-table.ts';

/**
 * The route table with the handlers that answer now. The ports without access control listen before the runtime has
 * answered and before there are pods, so the handlers of a starting agent come first and those of the whole agent replace
 * them. A request that has begun keeps the handler it has.
 *
 *   made ──> handlers at boot ──replace──> handlers of the whole agent
 */
export class ServedRoutes {
  readonly routes: readonly BoundRoute[];
  #handlers: Handlers;

  constructor(boot: Handlers) {
    this.#handlers = boot;
    const ids = Object.keys(routeTable) as RouteId[];
    const current = (id: RouteId) => [id, (request: Parameters<Handlers[RouteId]>[0]) => this.#handlers[id](request)];
    this.routes = bindRoutes(Object.fromEntries(ids.map(current)) as Handlers);
  }

  replace(handlers: Handlers): void {
    this.#handlers = handlers;
  }
}

/** Installs the handlers of the whole agent. Started after the components that the handlers ask. */
export function fullRoutes(served: Pick<ServedRoutes, 'replace'>, handlers: Handlers): Component {
  return {
    name: 'http-routes',
    start: async () => served.replace(handlers),
    stop: async () => {},
  };
}
