import type { Route } from '../route.ts';

/** A page of figures in the text form that Prometheus reads: the agent's own, or those of another path. */
export function metricsRoute(render: () => string, path = '/metrics'): Route {
  return {
    path,
    methods: ['GET', 'HEAD'],
    listeners: ['readOnly'],
    handle: async () => ({ status: 200, contentType: 'text/plain; version=0.0.4; charset=utf-8', body: render() }),
  };
}
