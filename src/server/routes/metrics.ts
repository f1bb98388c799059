import type { Route } from '../route.ts';

/** `/metrics`: the agent's own figures in the text form that Prometheus reads. */
export function metricsRoute(render: () => string): Route {
  return {
    path: '/metrics',
    methods: ['GET', 'HEAD'],
    listeners: ['readOnly'],
    handle: async () => ({ status: 200, contentType: 'text/plain; version=0.0.4; charset=utf-8', body: render() }),
  };
}
