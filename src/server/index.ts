export type { HealthCheck } from './health-checks.ts';
export type { AccessControl } from './listener/admission.ts';
export { auditTo, type AuditEntry, type OnAudit } from './listener/audit.ts';
export type { SwitchStates } from './listener/availability.ts';
export { defaultLimits, type ServerLimits } from './listener/limits.ts';
export { bindRoutes, type BoundRoute } from './listener/match-route.ts';
export { RequestPipeline, type PipelineDeps } from './listener/pipeline.ts';
export { PlainListener, type PlainListenerDeps } from './listener/plain-listener.ts';
export type {
  ClientAuthorities,
  HandOverDeps,
  HandOverFunction,
  ServingIdentity,
  ServingPair,
} from './listener/ports.ts';
export { SecureListener, type SecureListenerDeps } from './listener/secure-listener.ts';
export type { TlsSettings } from './listener/tls-parameters.ts';
export { routeTable, type Handlers, type RouteId } from './route-table.ts';
export { HealthCheckResults } from './health-checks-results.ts';
export { attachHandler } from './routes/attach.ts';
export { checkpointHandler } from './routes/checkpoint.ts';
export { configzHandler } from './routes/configz.ts';
export { containerLogsHandler } from './routes/container-logs.ts';
export { debugNodeHandler, debugPodHandler, type DebugPages } from './routes/debug.ts';
export { execHandler } from './routes/exec.ts';
export { flagzHandler } from './routes/flagz.ts';
export { healthzHandlers } from './routes/healthz.ts';
export { metricsHandler, streamedMetricsHandler } from './routes/metrics.ts';
export { metricsSlisHandler } from './routes/metrics-slis.ts';
export { nodeLogsHandler } from './routes/node-logs.ts';
export { podsHandler } from './routes/pods.ts';
export { portForwardHandler } from './routes/port-forward.ts';
export { profileHandlers } from './routes/profile.ts';
export { runHandler } from './routes/run.ts';
export { runningPodsHandler } from './routes/running-pods.ts';
export { specHandler } from './routes/spec.ts';
export { statsSummaryHandler } from './routes/stats-summary.ts';
export { statuszHandler, type Trouble } from './routes/statusz.ts';
export { verbosityHandler } from './routes/verbosity.ts';
