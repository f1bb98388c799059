import type { CommonPorts } from '../model/common-ports.ts';
import type { Component } from '../base/component.ts';
import { bootHandlers } from './boot-handlers.ts';
import { DeferredAccess } from './deferred-access.ts';
import { RequestPipeline } from './listener/pipeline.ts';
import { PlainListener } from './listener/plain-listener.ts';
import type { LogControl, MetricsRegistries, SocketFiles, UsagePages } from './ports.ts';
import type { DebugPages } from './routes/debug.ts';
import { SelfPages } from './self-pages.ts';
import { ServedRoutes } from './served-routes.ts';
import type { ServerSettings } from './server-settings.ts';
import { handOver } from './streaming/index.ts';

interface BootServerPorts extends CommonPorts {
  readonly logControl: LogControl;
  readonly registries: MetricsRegistries;
  /** Of an agent that cannot know yet what its pods use. */
  readonly usagePages: UsagePages;
  /** What was decided, and why. */
  readonly debug: DebugPages;
  /** Undefined on a machine without sockets: no port is opened. */
  readonly sockets: SocketFiles | undefined;
}

export interface BootServer {
  /** The ports without access control: health comes before all else. */
  readonly components: readonly Component[];
  /** For `createServer`, which puts the rest of the agent behind the same ports. */
  readonly parts: BootServerParts;
}

export interface BootServerParts {
  readonly self: SelfPages;
  readonly served: ServedRoutes;
  readonly access: DeferredAccess;
  readonly pipeline: RequestPipeline;
}

/** The server of an agent that knows only itself: one way for the requests of all ports, and the open ports. */
export function createBootServer(settings: ServerSettings, ports: BootServerPorts): BootServer {
  const { clock, random, log, heartbeats, metrics, logControl, registries, usagePages, debug } = ports;
  const { limits, switches, streamIdleMs, isStandalone } = settings;
  const self = new SelfPages({
    clock,
    random,
    heartbeats,
    log: logControl,
    registries,
    debug,
    settings: settings.self,
  });
  const served = new ServedRoutes(bootHandlers({ self, usagePages, isStandalone }));
  const access = new DeferredAccess(settings.access);
  const pipeline = new RequestPipeline({
    clock,
    log,
    metrics,
    routes: served.routes,
    switches,
    access,
    handOver,
    streamIdleMs,
    limits,
  });
  return { components: openListeners(settings, ports, pipeline), parts: { self, served, access, pipeline } };
}

function openListeners(
  { healthz, readOnly, socketPath: path }: ServerSettings,
  { clock, log, sockets }: BootServerPorts,
  pipeline: RequestPipeline,
): readonly PlainListener[] {
  if (sockets === undefined) return [];
  const common = { pipeline, clock, log };
  return [
    healthz && new PlainListener({ listener: 'healthz', at: healthz, ...common }),
    readOnly && new PlainListener({ listener: 'readOnly', at: readOnly, ...common }),
    path === undefined ? undefined : new PlainListener({ listener: 'socket', at: { path, sockets }, ...common }),
  ].filter((listener) => listener !== undefined);
}
