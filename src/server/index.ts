export type { ServedFiles, ServedViews } from './agent-handlers.ts';
export { createBootServer, type BootServer, type BootServerParts, type BootServerPorts } from './create-boot-server.ts';
export { createServerAccess, type ServerAccess, type ServerAccessPorts } from './create-server-access.ts';
export { createServer, type CreatedServer, type SecuredPort, type ServerPorts } from './create-server.ts';
export { auditTo, type AuditEntry, type OnAudit } from './listener/audit.ts';
export type { AccessControl } from './listener/admission.ts';
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
export type {
  ActivePods,
  DesiredView,
  HealthFacts,
  LeftPod,
  LogControl,
  MetricsPages,
  ObservedView,
  PodsView,
  ServerRuntime,
  SocketFiles,
  StatsView,
  StatusesView,
  UsagePages,
} from './ports.ts';
export { routeTable, type Handlers, type RouteId } from './route-table.ts';
export type { Endpoint, SelfSettings, ServerAccessSettings, ServerSettings } from './server-settings.ts';
export { debugNodeHandler, debugPodHandler, type DebugPages } from './routes/debug.ts';
