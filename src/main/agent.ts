import type { EventRecorder } from '../apiserver/events/index.ts';
import { withTimeout } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { hungAfterMs, type Heartbeats } from '../base/heartbeats.ts';
import { describeError, messageOf } from '../base/errors.ts';
import { systemRandom } from '../base/system-random.ts';
import type { Settings } from '../config/index.ts';
import { connectCri } from '../cri/index.ts';
import type { Node, NodeAddress, Pod } from '../gen/kubernetes/types.ts';
import { ForeignStorage, hostFiles, readMachine, socketFiles } from '../host/index.ts';
import { PodRemoval } from '../model/pod-removal.ts';
import { setupFailedEvent } from '../node/index.ts';
import { RuntimeHealth } from '../node/runtime-health/index.ts';
import { CallsUnderWay, FlightRecorder } from '../recorder/index.ts';
import type { LastRun } from '../state/index.ts';
import { createBootServer, createServer, createServerAccess } from '../server/index.ts';
import { nothingHeld } from '../server/podresources/index.ts';
import { Registry, type LogSink } from '../telemetry/index.ts';
import { ComponentRunner } from './component-runner.ts';
import { agentMetrics } from './wire/agent-metrics.ts';
import { cgroupPods } from './wire/cgroup-pods.ts';
import { cgroupSettings } from './wire/cgroup-settings.ts';
import { openApi, type ApiAccess } from './wire/api-connection.ts';
import { wireCluster, type Cluster } from './wire/cluster.ts';
import { cgroupDriverOf, waitForRuntime } from './wire/connect-runtime.ts';
import { wireEviction } from './wire/eviction.ts';
import { formerDevices } from './wire/former-devices.ts';
import { imageSettings, providerSettings } from './wire/image-settings.ts';
import { wireNodeMachine } from './wire/node-machine.ts';
import { admissionNodeSettings, nodeSettings } from './wire/node-settings.ts';
import { recordedNodeEvents } from './wire/pod-events.ts';
import type { PodMachine } from './wire/pod-machine.ts';
import { wireSources } from './wire/sources.ts';
import { checkpointDisk, restoreStatuses, statusCheckpoint } from './wire/status-checkpoint.ts';
import { authorityFiles, servedFiles } from './wire/server-files.ts';
import { serverAccessSettings, serverSettings } from './wire/server-settings.ts';
import { servingIdentity } from './wire/serving-identity.ts';
import { wireStats } from './wire/stats.ts';
import { runtimeCallMetrics } from './wire/telemetry.ts';
import { wireTracing } from './wire/tracing.ts';
import { noUsageYet, usagePages } from './wire/usage-pages.ts';

export interface AgentDeps {
  readonly settings: Settings;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: LogSink;
  readonly heartbeats: Heartbeats;
  /** Counts errors that no code caught. */
  readonly unexpected: { countIn(metrics: Registry): void };
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How the run before this one ended. */
  readonly lastRun?: LastRun;
}

export interface RunningAgent {
  pods(): readonly Pod[];
  stop(): Promise<void>;
}

const componentStopMs = 5_000;
const failureTellMs = 2_000;
const rootMode = 0o750;

/** Wires the agent to the real machine and starts it: health first, then the runtime, then the pods. */
export async function startAgent(deps: AgentDeps): Promise<RunningAgent> {
  const { settings, clock, log, heartbeats, signal } = deps;
  const { config } = settings;
  const random = systemRandom();
  const podRemoval = new PodRemoval(log);
  const page = (): Registry =>
    new Registry({ onReadError: (error, metric) => log.error(error, 'A metric cannot be read', { metric }) });
  const pages = { agent: page(), probes: page(), slis: page() };
  const registry = pages.agent;
  const otherPages = [pages.probes, pages.slis];
  const own = agentMetrics({ registry, otherPages, settings, nodeName: deps.nodeName, clock });
  deps.unexpected.countIn(registry);
  const tracing = await wireTracing(settings, deps.nodeName, clock, log);
  const removal = new PodRemoval(log);
  const decisions = new FlightRecorder({ clock, removal });
  const calls = new CallsUnderWay({ clock });
  // A component may ask the runtime once in its start.
  const startMs = hungAfterMs(config.runtimeRequestTimeout.toMillis());
  const runner = new ComponentRunner({ clock, log, stopMs: componentStopMs, startMs });
  const cri = connectCri({
    endpoint: config.containerRuntimeEndpoint,
    imageEndpoint: config.imageServiceEndpoint,
    clock,
    log,
    timeouts: { requestMs: config.runtimeRequestTimeout.toMillis() },
    observe: runtimeCallMetrics(registry),
    tracer: tracing?.tracer,
    calls,
  });
  let machine: PodMachine | undefined;
  const signals = createNodeSignals();
  let views: NodeViews | undefined;
  let access: ApiAccess | undefined;
  let recorder: EventRecorder | undefined;
  const stop = async (): Promise<void> => {
    await runner.stop();
    await access?.transport.close();
    cri.close();
  };
  try {
    await runner.start([...own.components, ...(tracing ? [tracing.component] : [])], signal);
    const common = { clock, random, log, heartbeats, metrics: registry };
    const servedSettings = serverSettings(settings, { env: deps.env, version: process.version, argv: process.argv });
    const boot = createBootServer(servedSettings, {
      ...common,
      logControl: log,
      pages,
      usagePages: usagePages(noUsageYet, log),
      debug: {
        pod: (uid: string) => decisions.podPage(uid),
        node: () => ({ ...decisions.nodePage(), calls: calls.page(), pods: decisions.pods() }),
      },
      sockets: socketFiles,
    });
    await runner.start(boot.components, signal);
    await makeFolders(settings);
    const foreign = new ForeignStorage({
      clock,
      log,
      rootDir: settings.flags.rootDir,
      calls,
      onAnswer: () => machine?.storageAnswers(),
    });
    await runner.start([foreign], signal);
    access = await openApi({ ...deps, random, metrics: registry, calls, tracer: tracing?.tracer }, signal);
    const admission = serverAccessSettings(settings, deps.nodeName);
    const serverAccess =
      admission && createServerAccess(admission, { ...common, files: authorityFiles, reviews: access?.reviews });
    await runner.start(access?.components ?? [], signal);
    const version = await waitForRuntime({ clock, log, cri, signal });
    const driver = await cgroupDriverOf({ clock, log, cri, signal, metrics: registry }, driverIn(config.cgroupDriver));
    const health = new RuntimeHealth({
      clock,
      random,
      log,
      heartbeats,
      runtime: cri,
      decisions,
      onChange: () => node?.wake(),
    });
    await runner.start([health], signal);
    const cluster = access && wireAgentCluster(deps, access.api, registry, () => wired);
    await runner.start(cluster ? [cluster.recorder] : [], signal);
    recorder = cluster?.recorder;
    const nodeEvents = recordedNodeEvents(log, deps.nodeName, cluster?.recorder);
    const host = readMachine();
    const devices = formerDevices(settings.flags.rootDir, log);
    const ownNode = {
      settings,
      nodeName: deps.nodeName,
      clock,
      random,
      log,
      heartbeats,
      cri,
      health,
      machine: host,
      events: nodeEvents,
      lastRun: deps.lastRun?.kind === 'stopped' ? undefined : deps.lastRun,
      plegError: () => plegError(clock, startedAt, machine?.lastRelist()),
      volumesInUse: () => machine?.volumesInUse(),
      formerDevices: devices,
    };
    node =
      access && cluster
        ? wireClusterNode({
            ...ownNode,
            api: access.api,
            mirror: cluster.node,
            startup: own.startup,
            watch: cluster.watch,
          })
        : wireLoneNode(ownNode);
    await runner.start(node.early, signal);
    const storage = wireStorageDrivers({
      clock,
      random,
      log,
      heartbeats,
      metrics: registry,
      rootDir: settings.flags.rootDir,
      calls,
      record: node.driverRecord,
      onChange: (name) => machine?.driverChanged(name),
    });
    const podRemoval = new PodRemoval(log);
    const ours = runtimeSettings(settings, { nodeName: deps.nodeName, machine: host, cgroupDriver: driver });
    const cgroups = createCgroups({
      ports,
      signals: { podRemoval },
      settings: cgroupSettings(settings, ours, host),
      host: openCgroups({ version: host.cgroupVersion, clock }),
      pods: cgroupPods(() => wired),
      events: nodeEvents,
    });
    const credentialPlugins = providerSettings(settings);
    const providers = await loadImageProviders(credentialPlugins.places, providerFiles, credentialPlugins.options);
    const imagePolicy = {
      settings: imageSettings(settings, { workingDir: process.cwd(), homeDir: deps.env['HOME'] ?? '' }),
      files: recordFiles(random),
      pluginRunner: pluginRunner({ clock, environment: deps.env }),
      providers,
    };
    const wired: PodMachine = wireNodeMachine(
      deps,
      {
        cri,
        registry,
        probeRegistry: pages.probes,
        imagePolicy,
        health,
        driver,
        nodeEvents,
        decisions,
        removal,
        machine: host,
        runtimeName: version.name,
        node: views,
        tracer: tracing?.tracer,
        drivers: storage.drivers,
        storage: foreign,
        podRemoval,
        inUseChanged: () => signals.statusDue.mark(),
        ...(cluster && { cluster }),
      },
      () => checkpoint.changed(),
    );
    machine = wired;
    const checkpoint = statusCheckpoint({
      clock,
      log,
      disk: checkpointDisk(systemRandom()),
      rootDir: settings.flags.rootDir,
      statuses: () => wired.statuses,
      // What is left of a pod's old life says nothing about its next.
      wanted: (uid) => wired.desired.has(uid) && !wired.lifecycles.isRemovedFromSource(uid),
    });
    await restoreStatuses(checkpoint, wired.statuses);
    // Static pods that run already wait a moment for what the API server knows of them.
    const statics = cluster && [cluster.statics];
    const sources = wireSources(deps, cluster ? staticPodsTo(wired, cluster) : wired);
    const stats = await wireStats({
      ...deps,
      random,
      cri,
      machine: host,
      driver,
      agentCgroup: cgroups.agentCgroup,
      pods: wired,
      registry,
      drivers: storage.drivers,
      storage: foreign,
    });
    const evictions = wireEviction({ ...common, settings, pods: wired, meter: stats, decisions });
    const { view } = node;
    const addresses = (): ReturnType<typeof nodeAddressesOf> => nodeAddressesOf(view.node());
    const serving =
      serverAccess && servingIdentity({ ...deps, ...common, cluster: access && { api: access.api, addresses } });
    cluster?.node.listen(() => serving?.addressesChanged?.());
    const server = createServer(servedSettings, {
      ...common,
      boot: boot.parts,
      secured: serverAccess && serving && { access: serverAccess, serving },
      pods: {
        pods: () => wired.pods(),
        seen: () => wired.seen(),
        stuck: () => wired.stuck(),
        activePods: () => wired.activePods.activePods(),
      },
      desired: wired.desired,
      statuses: wired.statuses,
      observed: wired.observed,
      runtime: cri,
      stats,
      usagePages: usagePages(stats, log),
      // No plugin gives devices away, and everything on the node is shared.
      health: { lastSyncRound: () => wired.lastRelist(), devicePluginProblem: () => undefined },
      books: nothingHeld,
      files: servedFiles(foreign, deps.env),
      sockets: socketFiles,
    });
    await runner.start([stats, ...server.components], signal);
    const pods = [agentCgroup, checkpoint, ...wired.components, ...evictions, ...sources];
    await runner.start(
      [
        ...pods,
        ...(cluster?.components ?? []),
        ...node.late,
        ...(statics ?? []),
        ...storage.components,
        ...plugins.components,
      ],
      signal,
    );
  } catch (error) {
    if (recorder !== undefined && !signal.aborted) await tellFailure(deps, recorder, error);
    await stop();
    throw error;
  }
  const running = machine;
  return { pods: () => running.pods(), stop };
}

function wireAgentCluster(
  { settings, nodeName, clock, log, heartbeats, signal }: AgentDeps,
  api: ApiAccess['api'],
  metrics: Registry,
  machine: () => PodMachine,
): Cluster {
  const objectStrategy = settings.config.configMapAndSecretChangeDetectionStrategy;
  const trustBundles = settings.featureGates.all['ClusterTrustBundleProjection'] === true;
  const random = systemRandom();
  return wireCluster({
    clock,
    random,
    log,
    heartbeats,
    metrics,
    api,
    nodeName,
    objectStrategy,
    trustBundles,
    signal,
    machine,
  });
}

function staticPodsTo(
  machine: PodMachine,
  { statics }: Pick<Cluster, 'statics'>,
): Pick<PodMachine, 'set' | 'setObjects'> {
  return { set: (source, pods) => statics.set(source, pods), setObjects: (objects) => machine.setObjects(objects) };
}

/** Why the agent could not start, where people look for reasons, as far as the API server takes it. */
async function tellFailure(
  { clock, log, nodeName }: AgentDeps,
  recorder: EventRecorder,
  error: unknown,
): Promise<void> {
  recordedNodeEvents(log, nodeName, recorder).record(setupFailedEvent(describeError(error)));
  try {
    await withTimeout(clock, failureTellMs, (signal) => recorder.told(signal));
  } catch (failure) {
    log.warn('The API server was not told why the agent cannot start', { err: messageOf(failure) });
  }
}

async function makeFolders({ flags, config }: Settings): Promise<void> {
  await hostFiles.makeFolder(flags.rootDir, rootMode);
  await hostFiles.makeFolder(`${flags.rootDir}/pods`, rootMode);
  await hostFiles.makeFolder(config.podLogsDir, rootMode);
}

function nodeAddressesOf(node: Node | undefined): readonly NodeAddress[] {
  return node?.status?.addresses ?? [];
}

function driverIn(word: string): 'cgroupfs' | 'systemd' {
  return word === 'systemd' ? 'systemd' : 'cgroupfs';
}
