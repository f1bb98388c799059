import { release } from 'node:os';
import type { EventRecorder } from '../apiserver/events/index.ts';
import { withTimeout } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { describeError, messageOf } from '../base/errors.ts';
import { systemRandom } from '../base/system-random.ts';
import type { Settings } from '../config/index.ts';
import { connectCri } from '../cri/index.ts';
import { createEviction } from '../eviction/index.ts';
import type { Pod } from '../gen/kubernetes/types.ts';
import {
  deviceCheckpoint,
  ForeignStorage,
  hostFiles,
  nodeHost,
  outwardAddresses,
  readKernelFacts,
  readMachine,
  readProgramStart,
} from '../host/index.ts';
import { PodRemoval } from '../model/pod-removal.ts';
import {
  createNode,
  createNodeSignals,
  createNodeView,
  readFormerDevices,
  setupFailedEvent,
  type NodeViews,
} from '../node/index.ts';
import type { LastRun } from '../state/index.ts';
import { createStats } from '../stats/index.ts';
import { Registry, type LogSink } from '../telemetry/index.ts';
import { DriverStats } from '../volumes/csi/index.ts';
import { ComponentRunner } from './component-runner.ts';
import { wireAgentCgroup } from './wire/agent-cgroup.ts';
import { agentMetrics } from './wire/agent-metrics.ts';
import { openApi, type ApiAccess } from './wire/api-connection.ts';
import { wireCluster, type Cluster } from './wire/cluster.ts';
import { cgroupDriverOf, waitForRuntime } from './wire/connect-runtime.ts';
import { imagePolicy } from './wire/images.ts';
import { wireNodeMachine } from './wire/node-machine.ts';
import { admissionNodeSettings, nodeSettings } from './wire/node-settings.ts';
import { recordedNodeEvents } from './wire/pod-events.ts';
import type { PodMachine } from './wire/pod-machine.ts';
import { wireSources } from './wire/sources.ts';
import { checkpointDisk, restoreStatuses, statusCheckpoint } from './wire/status-checkpoint.ts';
import { wireServer } from './wire/server.ts';
import { statsHost, statsSettings } from './wire/stats-host.ts';
import { wireStorageDrivers } from './wire/storage-drivers.ts';
import { runtimeCallMetrics } from './wire/telemetry.ts';
import { wireTracing } from './wire/tracing.ts';
import { canKeepOutOfSwap } from './wire/volumes.ts';

export interface AgentDeps {
  readonly settings: Settings;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: LogSink;
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
  const { settings, clock, log, signal } = deps;
  const { config } = settings;
  const random = systemRandom();
  const podRemoval = new PodRemoval(log);
  const page = (): Registry =>
    new Registry({ onReadError: (error, metric) => log.error(error, 'A metric cannot be read', { metric }) });
  const pages = { agent: page(), probes: page(), slis: page() };
  const registry = pages.agent;
  const otherPages = [pages.probes, pages.slis];
  const own = agentMetrics({ registry, otherPages, settings, nodeName: deps.nodeName, clock });
  const tracing = await wireTracing(settings, deps.nodeName, clock, log);
  const runner = new ComponentRunner({ clock, log, stopMs: componentStopMs });
  const cri = connectCri({
    endpoint: config.containerRuntimeEndpoint,
    imageEndpoint: config.imageServiceEndpoint,
    clock,
    log,
    timeouts: { requestMs: config.runtimeRequestTimeout.toMillis() },
    observe: runtimeCallMetrics(registry),
    tracer: tracing?.tracer,
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
    const server = wireServer({ ...deps, random, cri, pages });
    await runner.start(server.open, signal);
    await makeFolders(settings);
    const foreign = new ForeignStorage({
      clock,
      log,
      rootDir: settings.flags.rootDir,
      onAnswer: () => machine?.storageAnswers(),
    });
    await runner.start([foreign], signal);
    access = await openApi({ ...deps, random, metrics: registry, tracer: tracing?.tracer }, signal);
    server.admit(access, () => views?.view.node()?.status?.addresses ?? []);
    await runner.start(access?.components ?? [], signal);
    const version = await waitForRuntime({ clock, log, cri, signal });
    const driver = await cgroupDriverOf({ clock, log, cri, signal, metrics: registry }, driverIn(config.cgroupDriver));
    const cluster = access && wireAgentCluster({ ...deps, podRemoval }, access.api, registry, () => wired);
    await runner.start(cluster ? [cluster.recorder] : [], signal);
    recorder = cluster?.recorder;
    const nodeEvents = recordedNodeEvents(log, deps.nodeName, cluster?.recorder);
    const host = readMachine();
    const kernel = readKernelFacts();
    const former = await readFormerDevices(deviceCheckpoint(settings.flags.rootDir), log);
    const ports = { clock, random, log, metrics: registry };
    const nodeCluster = access && cluster && { api: access.api, mirror: cluster.node, watch: cluster.watch };
    views = createNodeView({
      ports,
      settings: admissionNodeSettings(settings, deps.nodeName),
      signals,
      runtime: cri,
      kernel,
      host: { outwardAddresses },
      formerDevices: former,
      cluster: nodeCluster,
    });
    const { cgroupVersion, swapBytes } = host;
    const { rootDir, machineIdFile: machineIdFiles, bootIdFile } = settings.flags;
    const node = createNode({
      ports,
      settings: nodeSettings(settings, { nodeName: deps.nodeName, architecture: kernel.architecture }),
      signals,
      views,
      host: nodeHost({ machine: host, rootDir, machineIdFiles, bootIdFile }),
      runtime: cri,
      events: nodeEvents,
      startFacts: {
        cgroupVersion,
        swapBytes,
        tmpfsNoSwap: canKeepOutOfSwap(release()),
        lastRun: deps.lastRun?.kind === 'stopped' ? undefined : deps.lastRun,
      },
      programStart: readProgramStart(clock),
      pleg: {
        unhealthy: () => (machine === undefined ? 'pleg has yet to be successful' : machine.pleg.unhealthy()),
      },
      volumes: { volumesInUse: () => machine?.volumesInUse() },
      formerDevices: former,
      cluster: nodeCluster,
    });
    signals.addressesChanged.listen(() => server.addressesChanged());
    await runner.start([...views.early, ...node.early], signal);
    const storage = wireStorageDrivers({
      clock,
      random,
      log,
      metrics: registry,
      rootDir: settings.flags.rootDir,
      record: views.driverRecord,
      onChange: (name) => machine?.driverChanged(name),
    });
    const policy = await imagePolicy({ settings, clock, log, metrics: registry, service: cri, env: deps.env });
    const wired: PodMachine = wireNodeMachine(
      deps,
      {
        cri,
        registry,
        probeRegistry: pages.probes,
        policy,
        driver,
        nodeEvents,
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
      wanted: (uid) => wired.desired.has(uid) && !wired.workers.isLeaving(uid),
    });
    await restoreStatuses(checkpoint, wired.statuses);
    // Static pods that run already wait a moment for what the API server knows of them.
    const statics = cluster && [cluster.statics];
    const sources = wireSources(deps, cluster ? staticPodsTo(wired, cluster) : wired);
    const agentCgroup = wireAgentCgroup({ ...deps, random, machine: host });
    const tells = settings.featureGates.enabled('CSIVolumeHealth');
    const stats = createStats({
      ports,
      settings: statsSettings(settings, { nodeName: deps.nodeName, machine: host, cgroupDriver: driver }),
      podRemoval,
      host: await statsHost({ clock, settings, machine: host, storage: foreign }),
      runtime: cri,
      agentCgroup,
      pods: {
        seen: () => wired.seen(),
        desired: (uid) => wired.desired.get(uid),
        startTime: (uid) => wired.statuses.get(uid)?.startTime,
      },
      volumes: wired.volumes,
      drivers: new DriverStats({
        clock,
        drivers: storage.drivers,
        mounted: (uid) => wired.volumes.mounted(uid),
        ...(tells && { abnormal: (uid, event) => wired.tell(uid, event) }),
      }),
      page: registry,
    });
    const eviction = createEviction({
      ports: { clock, random, log, metrics: registry },
      settings: { localStorageCapacityIsolation: config.localStorageCapacityIsolation ?? false },
      podRemoval,
      pods: { activePods: () => wired.desired.all().filter(({ uid }) => wired.workers.mayRun(uid)) },
      workers: wired.workers,
      meter: stats.stats,
      events: { record: ({ uid }, event) => wired.tell(uid, event) },
    });
    const served = server.complete({ machine: wired, stats, storage: foreign });
    await runner.start(served, signal);
    const pods = [agentCgroup, checkpoint, ...wired.components, ...eviction.components, ...sources];
    await runner.start(
      [...pods, ...(cluster?.components ?? []), ...views.late, ...node.late, ...(statics ?? []), storage.watcher],
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
  { settings, nodeName, clock, log, signal, podRemoval }: AgentDeps & { readonly podRemoval: PodRemoval },
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
    metrics,
    api,
    nodeName,
    objectStrategy,
    trustBundles,
    signal,
    podRemoval,
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
    log.warn('The API server was not told why the agent cannot start', { why: messageOf(failure) });
  }
}

async function makeFolders({ flags, config }: Settings): Promise<void> {
  await hostFiles.makeFolder(flags.rootDir, rootMode);
  await hostFiles.makeFolder(`${flags.rootDir}/pods`, rootMode);
  await hostFiles.makeFolder(config.podLogsDir, rootMode);
}

function driverIn(word: string): 'cgroupfs' | 'systemd' {
  return word === 'systemd' ? 'systemd' : 'cgroupfs';
}
