import { statfsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import { systemRandom } from '../base/system-random.ts';
import { nodeAddresses, type Settings } from '../config/index.ts';
import { containerdEvents } from '../containerd/index.ts';
import { connectCri, type Cri } from '../cri/index.ts';
import type { Pod } from '../gen/kubernetes/types.ts';
import { hostFiles, outwardAddresses, readMachine } from '../host/index.ts';
import { Quantity } from '../model/quantity.ts';
import { parseResolvConf, type HostDns } from '../model/dns.ts';
import { containerdHints } from '../pods/pleg/index.ts';
import { nodeLogFiles, readLogTail } from '../pods/logs/index.ts';
import { Registry } from '../telemetry/index.ts';
import { ComponentRunner } from './component-runner.ts';
import { admissionNode } from './wire/admission-node.ts';
import { announcedHandlers, cgroupDriverOf, waitForRuntime } from './wire/connect-runtime.ts';
import { imagePolicy, type ImagePolicy } from './wire/images.ts';
import { wireListeners } from './wire/listeners.ts';
import type { LogKeeping } from './wire/logs.ts';
import { podCgroupRemover } from './wire/pod-cgroups.ts';
import { loggedEvents } from './wire/pod-events.ts';
import { wirePodMachine, type PodMachine } from './wire/pod-machine.ts';
import { sourcesOf, wireSources } from './wire/sources.ts';
import { restartLimits } from './wire/restart-limits.ts';
import { nodeFacts, runtimeSettings } from './wire/runtime-settings.ts';
import { checkpointDisk, restoreStatuses, statusCheckpoint } from './wire/status-checkpoint.ts';
import { processMetrics, runtimeCallMetrics } from './wire/telemetry.ts';

export interface AgentDeps {
  readonly settings: Settings;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface RunningAgent {
  pods(): readonly Pod[];
  stop(): Promise<void>;
}

const componentStopMs = 5_000;
const rootMode = 0o750;

/** Wires the agent to the real machine and starts it: health first, then the runtime, then the pods. */
export async function startAgent(deps: AgentDeps): Promise<RunningAgent> {
  const { settings, clock, log, signal } = deps;
  const { config } = settings;
  const registry = new Registry();
  processMetrics(registry);
  const runner = new ComponentRunner({ clock, log, stopMs: componentStopMs });
  const cri = connectCri({
    endpoint: config.containerRuntimeEndpoint,
    imageEndpoint: config.imageServiceEndpoint,
    clock,
    log,
    timeouts: { requestMs: config.runtimeRequestTimeout.toMillis() },
    observe: runtimeCallMetrics(registry),
  });
  let machine: PodMachine | undefined;
  const stop = async (): Promise<void> => {
    await runner.stop();
    cri.close();
  };
  try {
    const listeners = wireListeners({
      clock,
      log,
      config,
      pods: () => machine?.pods() ?? [],
      metrics: () => registry.render(),
      lastSeen: () => machine?.pleg.lastRelist(),
    });
    await runner.start(listeners, signal);
    await makeFolders(settings);
    const version = await waitForRuntime({ clock, log, cri, signal });
    const driver = await cgroupDriverOf({ clock, log, cri, signal }, driverIn(config.cgroupDriver));
    const handlers = await announcedHandlers({ clock, log, cri, signal });
    const policy = await imagePolicy({ settings, clock, log, metrics: registry, service: cri, env: deps.env });
    const wired = wireMachine(deps, { cri, registry, policy, handlers, driver, runtimeName: version.name }, () =>
      checkpoint.changed(),
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
    await runner.start([checkpoint, ...wired.components, ...wireSources(deps, wired)], signal);
  } catch (error) {
    await stop();
    throw error;
  }
  const running = machine;
  return { pods: () => running.pods(), stop };
}

/** What is known once the runtime has answered. */
interface RuntimeParts {
  readonly cri: Cri;
  readonly registry: Metrics;
  readonly policy: ImagePolicy;
  readonly handlers: ReadonlySet<string>;
  readonly driver: 'cgroupfs' | 'systemd';
  readonly runtimeName: string;
}

function wireMachine(
  { settings, nodeName, clock, log }: AgentDeps,
  parts: RuntimeParts,
  onStatus: () => void,
): PodMachine {
  const { cri } = parts;
  const machine = readMachine();
  const { config, flags } = settings;
  const ours = runtimeSettings(settings, { nodeName, machine, cgroupDriver: parts.driver });
  const given = nodeAddresses(flags.nodeIp);
  const hostIps = given.length > 0 ? given : outwardAddresses();
  const { blocks, bsize } = statfsSync(flags.rootDir, { bigint: true });
  const admission = admissionNode({ settings, nodeName, machine, ephemeralBytes: blocks * bsize });
  return wirePodMachine({
    clock,
    random: systemRandom(),
    log,
    cri,
    files: hostFiles,
    lastWords: {
      readEnd: (path, bytes) => hostFiles.readEnd(path, bytes),
      readLogTail: async (path, limits) => (await readLogTail(path, limits)).toString('utf8'),
    },
    cgroups: podCgroupRemover(ours),
    events: loggedEvents(log),
    settings: ours,
    node: nodeFacts(machine),
    admissionNode: () => admission,
    hostIps: () => hostIps,
    hostDns: () => readHostDns(config.resolvConf),
    runtimeName: () => parts.runtimeName,
    runtimeHandlers: () => parts.handlers,
    onStatus,
    // A status that is forgotten must not come back with the next start.
    onGone: onStatus,
    logs: logKeeping(settings),
    gcPolicy: {
      minAgeMs: flags.minimumContainerTtlDuration.toMillis(),
      maxPerContainer: flags.maximumDeadContainersPerContainer,
      maxTotal: flags.maximumDeadContainers,
    },
    otherHints: [containerdHints(containerdEvents({ endpoint: cri.endpoint, clock, log }))],
    metrics: parts.registry,
    sources: sourcesOf(settings),
    restartLimits: restartLimits(settings),
    imagePolicy: parts.policy,
    resyncMs: config.syncFrequency.toMillis(),
    parallelPulls: config.serializeImagePulls ? 1 : (config.maxParallelImagePulls ?? Number.POSITIVE_INFINITY),
  });
}

/** Log collectors look for links in one place only, and only for logs that are in their usual place too. */
function logKeeping({ config }: Settings): LogKeeping {
  const limits = {
    maxSize: Number(Quantity.parse(config.containerLogMaxSize).value()),
    maxFiles: config.containerLogMaxFiles,
    maxWorkers: config.containerLogMaxWorkers,
    monitorIntervalMs: config.containerLogMonitorInterval.toMillis(),
  };
  return {
    files: nodeLogFiles,
    limits,
    ...(config.podLogsDir === '/var/log/pods' && { linksDir: '/var/log/containers' }),
  };
}

async function makeFolders({ flags, config }: Settings): Promise<void> {
  await hostFiles.makeFolder(flags.rootDir, rootMode);
  await hostFiles.makeFolder(`${flags.rootDir}/pods`, rootMode);
  await hostFiles.makeFolder(config.podLogsDir, rootMode);
}

function driverIn(word: string): 'cgroupfs' | 'systemd' {
  return word === 'systemd' ? 'systemd' : 'cgroupfs';
}

/** No host resolver file means that pods must not use the host's: they get an address where nobody answers. */
async function readHostDns(path: string): Promise<HostDns> {
  if (path === '') return { servers: ['127.0.0.1'], searches: ['.'], options: [] };
  return parseResolvConf(await readFile(path, 'utf8'));
}
