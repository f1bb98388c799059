import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Settings } from '../../config/index.ts';
import {
  bindRoutes,
  PlainListener,
  RequestPipeline,
  SecureListener,
  type AccessControl,
  type Handlers,
  type ServerLimits,
  type SwitchStates,
} from '../../server/index.ts';
import { handOver } from '../../server/streaming/index.ts';
import type { ServerAccess } from './server-access.ts';

export interface ListenersDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly metrics: Metrics;
  readonly handlers: Handlers;
  /** Who is let in on the secured port. */
  readonly access: AccessControl;
  /** The usual ones unless told. */
  readonly limits?: Partial<ServerLimits> | undefined;
}

export interface Listeners {
  /** Those that are open to everybody; they can listen before the agent knows anything. */
  readonly open: readonly Component[];
  secure(access: ServerAccess): readonly Component[];
}

/** Where the pages of the read-only port are also to be had, by a socket that only this user may open. */
const socketVariable = 'TUBELET_READ_ONLY_SOCKET';

/** One way through the server for all ports. */
export function wireListeners(deps: ListenersDeps): Listeners {
  const { clock, log, settings, metrics, handlers } = deps;
  const { config } = settings;
  const pipeline = new RequestPipeline({
    clock,
    log,
    metrics,
    routes: bindRoutes(handlers),
    switches: switchesOf(settings),
    access: deps.access,
    handOver,
    streamIdleMs: config.streamingConnectionIdleTimeout.toMillis(),
    ...(deps.limits && { limits: deps.limits }),
  });
  const open: Component[] = [];
  if (config.healthzPort > 0) {
    const { healthzBindAddress: address, healthzPort: port } = config;
    open.push(new PlainListener({ listener: 'healthz', at: { address, port }, pipeline, clock, log }));
  }
  if (config.readOnlyPort > 0) {
    const { address, readOnlyPort: port } = config;
    open.push(new PlainListener({ listener: 'readOnly', at: { address, port }, pipeline, clock, log }));
  }
  const path = deps.env[socketVariable] ?? '';
  if (path !== '') open.push(new PlainListener({ listener: 'socket', at: { path }, pipeline, clock, log }));
  return {
    open,
    secure: ({ clientCertificates, serving }) => {
      const listener = new SecureListener({
        address: config.address,
        port: config.port,
        pipeline,
        identity: serving,
        clientAuthorities: clientCertificates,
        tls: { minVersion: config.tlsMinVersion, cipherSuites: config.tlsCipherSuites },
        clock,
        log,
      });
      return [...(clientCertificates ? [clientCertificates] : []), serving, listener];
    },
  };
}

function switchesOf({ config, featureGates }: Settings): SwitchStates {
  return {
    debugging: config.enableDebuggingHandlers,
    systemLogs: config.enableSystemLogHandler,
    profiling: config.enableProfilingHandler,
    debugFlags: config.enableDebugFlagsHandler,
    checkpoint: featureGates.enabled('ContainerCheckpoint'),
    statusz: featureGates.enabled('ComponentStatusz'),
    flagz: featureGates.enabled('ComponentFlagz'),
  };
}
