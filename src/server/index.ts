export type { HealthCheck } from './health-checks.ts';
export { HttpListener } from './http-listener.ts';
export type { Route } from './route.ts';
export { healthzRoutes } from './routes/healthz.ts';
export { metricsRoute } from './routes/metrics.ts';
export { podsRoute } from './routes/pods.ts';
