import type { Component } from '../../base/component.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Settings } from '../../config/index.ts';
import type { Cri } from '../../cri/index.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import type { LoadedProviders } from '../../images/index.ts';
import type { CommonPorts } from '../../model/common-ports.ts';
import type { FormerDevices } from '../../node/index.ts';
import { readFormerDevices } from '../../node/index.ts';
import type { RuntimeEventSource } from '../../pods/pleg/index.ts';
import { CallsUnderWay, FlightRecorder } from '../../recorder/index.ts';
import {
  createBootServer,
  createServerAccess,
  type BootServerParts,
  type ServerAccess,
  type ServerSettings,
} from '../../server/index.ts';
import { createSetup, type Setup } from '../../setup/create-setup.ts';
import { prepareHost, type PreparedHost } from '../../setup/index.ts';
import type { LastRun } from '../../state/index.ts';
import { Registry } from '../../telemetry/index.ts';
import { agentMetrics } from './agent-metrics.ts';
import { cgroupDriverOf, waitForRuntime } from './connect-runtime.ts';
import type { ApiAccess, Host, Platform } from './platform.ts';
import { serverAccessSettings, serverSettings } from './settings/server-settings.ts';
import { prepareSettings, setupSettings } from './settings/setup-settings.ts';
import { createSignals, type AgentSignals } from './signals.ts';
import { loadStatuses } from './status-checkpoint.ts';
import { runtimeCallMetrics } from './telemetry.ts';
import { createTracing, type Tracing } from './tracing.ts';
import { noUsageYet, usagePages } from './usage-pages.ts';

/** The identity of this agent, and the end of its previous run. */
export interface AgentIdentity {
  readonly nodeName: string;
  /** The loops of the agent; the watchdog watches them from the beginning. */
  readonly heartbeats: Heartbeats;
  /** How the previous run ended. */
  readonly lastRun: LastRun | undefined;
  /** Health checks are answered; the runtime and the API server may not be there yet. */
  readonly onServing: () => Promise<void>;
  /** Counts errors that no code caught. */
  readonly countUnexpected: (metrics: Registry) => void;
}

/** The metrics registries, by the page that shows them. */
interface Registries {
  readonly agent: Registry;
  readonly probes: Registry;
  readonly slis: Registry;
}

/** Everything that has to be awaited before the agent can be composed. */
export interface BootFacts extends AgentIdentity {
  readonly ports: CommonPorts;
  readonly registries: Registries;
  readonly signals: AgentSignals;
  readonly tracing: Tracing | undefined;
  readonly served: { readonly settings: ServerSettings; readonly parts: BootServerParts };
  readonly host: Host;
  readonly setup: Setup;
  readonly prepared: PreparedHost;
  readonly api: ApiAccess | undefined;
  readonly serverAccess: ServerAccess | undefined;
  readonly sockets: Platform['sockets'];
  readonly cri: Cri;
  readonly eventSources: readonly RuntimeEventSource[];
  readonly runtimeName: string;
  readonly cgroupDriver: 'cgroupfs' | 'systemd';
  readonly imageProviders: LoadedProviders | undefined;
  readonly formerDevices: FormerDevices;
  /** The pod statuses that a previous run saved. */
  readonly statuses: Readonly<Record<string, PodStatus>>;
}

interface BootRunner {
  start(components: readonly Component[], signal: AbortSignal): Promise<void>;
  /** Registers a function that runs after all components have stopped, in reverse order. */
  closeAtEnd(close: () => Promise<void>): void;
}

/** First health, then the agent's identity, then the runtime: after it everything that pods need is known. */
export async function boot(
  settings: Settings,
  platform: Platform,
  identity: AgentIdentity,
  runner: BootRunner,
  signal: AbortSignal,
): Promise<BootFacts> {
  const { clock, random, log } = platform;
  const { nodeName, heartbeats } = identity;
  const signals = createSignals(log);
  const registries = createRegistries(platform);
  const decisions = new FlightRecorder({ clock, removal: signals.podRemoval });
  const calls = new CallsUnderWay({ clock });
  const ports: CommonPorts = { clock, random, log, metrics: registries.agent, heartbeats, decisions, calls };
  const otherPages = [registries.probes, registries.slis];
  const own = agentMetrics({
    registry: registries.agent,
    otherPages,
    settings,
    nodeName,
    clock,
    engine: platform.engine,
  });
  identity.countUnexpected(registries.agent);
  const tracing = await createTracing(settings, nodeName, ports);
  await runner.start([...own.components, ...(tracing ? [tracing.component] : [])], signal);

  const serverSettingsOf = serverSettings(settings, { env: platform.env, ...platform.process });
  const server = createBootServer(serverSettingsOf, {
    ...ports,
    logControl: log,
    registries,
    usagePages: usagePages(noUsageYet(log)),
    debug: {
      pod: (uid) => decisions.podPage(uid),
      node: () => ({ ...decisions.nodePage(), calls: calls.page(), pods: decisions.pods() }),
    },
    sockets: platform.sockets,
  });
  await runner.start(server.components, signal);
  await identity.onServing();

  const observe = runtimeCallMetrics(registries.agent);
  const { cri, eventSources } = platform.connectRuntime({ observe, calls, tracer: tracing?.tracer });
  runner.closeAtEnd(async () => cri.close());
  const { storageAnswers } = signals;
  const host = await platform.openHost(ports, { settings, storageAnswers, cri });
  const setup = createSetup({ ports, settings: setupSettings(settings, platform.env), machine: host.setup });
  await runner.start(setup.early, signal);
  const prepared = await prepareHost(host.setup, prepareSettings(settings, host.kernel), log);
  await runner.start(host.components, signal);

  const api = await platform.openApi(ports, tracing?.tracer, signal);
  if (api !== undefined) runner.closeAtEnd(() => api.close());
  const access = serverAccessSettings(settings, nodeName);
  const accessPorts = { ...ports, files: host.server.authorities, reviews: api?.reviews };
  const serverAccess = access && createServerAccess(access, accessPorts);
  await runner.start(api?.components ?? [], signal);

  const version = await waitForRuntime({ clock, log, cri, signal });
  const configured = settings.config.cgroupDriver === 'systemd' ? 'systemd' : 'cgroupfs';
  return {
    ...identity,
    ports,
    registries,
    signals,
    tracing,
    served: { settings: serverSettingsOf, parts: server.parts },
    host,
    setup,
    prepared,
    api,
    serverAccess,
    sockets: platform.sockets,
    cri,
    eventSources,
    runtimeName: version.name,
    cgroupDriver: await cgroupDriverOf({ clock, log, cri, signal, metrics: registries.agent }, configured),
    imageProviders: await host.loadImageProviders(),
    formerDevices: await readFormerDevices(host.formerDevices, log),
    statuses: await loadStatuses({ clock, log, disk: host.checkpoints, rootDir: settings.flags.rootDir }),
  };
}

function createRegistries({ log }: Platform): Registries {
  const registry = (): Registry =>
    new Registry({ onReadError: (error, metric) => log.error(error, 'A metric cannot be read', { metric }) });
  return { agent: registry(), probes: registry(), slis: registry() };
}
