import { statfs } from 'node:fs/promises';
import { arch, release } from 'node:os';
import type { HttpApiClient } from '../../apiserver/index.ts';
import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { WorkWatch } from '../../base/keyed-work.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { nodeAddresses, type Settings } from '../../config/index.ts';
import type { Cri } from '../../cri/index.ts';
import type { Node } from '../../gen/kubernetes/types.ts';
import { lookupAddresses, nodeCapacity, readNodeInfo, readNodeNetwork, type Machine } from '../../host/index.ts';
import { goArchitecture } from '../../model/architecture.ts';
import { createStrategicMergePatch } from '../../model/strategic-merge-patch.ts';
import {
  CsiNodeRecord,
  NodeStatus,
  NodeView,
  OwnNode,
  PodCidr,
  RegisterNode,
  startEvents,
  type LastRunFacts,
  type NodeEvents,
  type NodeStartup,
  type NodeSettings,
  type NodeSources,
} from '../../node/index.ts';
import { NodeLease } from '../../node/lease/index.ts';
import type { RuntimeHealth } from '../../node/runtime-health/index.ts';
import type { Reflector } from '../../apiserver/index.ts';
import type { FormerDevices } from './former-devices.ts';
import { configuredReservations } from './cgroup-settings.ts';
import { canKeepOutOfSwap } from '../../volumes/index.ts';

export interface OwnNodeWiring {
  readonly settings: Settings;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly heartbeats: Heartbeats;
  readonly log: Log;
  readonly cri: Pick<Cri, 'version' | 'listImages' | 'updateRuntimeConfig'>;
  readonly machine: Machine;
  readonly health: RuntimeHealth;
  readonly events: NodeEvents;
  readonly lastRun?: LastRunFacts | undefined;
  /** What is wrong with the agent's own view of the runtime. */
  readonly plegError: () => string | undefined;
  /** Volumes in use here that somebody else attaches, by the names that a node's status has for them. */
  readonly volumesInUse: () => readonly string[] | undefined;
  readonly formerDevices: FormerDevices;
}

export interface WiredNode {
  readonly view: NodeView;
  /** Something that the node's status is made of has changed. */
  wake(): void;
  /** Where storage drivers are put on record; nobody reads it where there is no cluster. */
  readonly driverRecord?: CsiNodeRecord;
  /** Before anything that asks the view: pods and their admission. */
  readonly early: readonly Component[];
  readonly late: readonly Component[];
}

/** The node of an agent that stands alone: nobody is told of it, but pods and admission ask. */
export function wireLoneNode(wiring: OwnNodeWiring): WiredNode {
  const { settings, nodeName, clock, random, log, cri } = wiring;
  const own = new OwnNode({
    clock,
    log,
    settings: nodeSettings(wiring),
    sources: nodeSources(wiring, () => undefined),
  });
  const view = new NodeView({ nodeName });
  const fill: Component = {
    name: 'node-view',
    start: async () => view.setOwn((await own.initial()).node),
    stop: async () => {},
  };
  const { podCIDR: configured } = settings.config;
  const podCidr = new PodCidr({ clock, random, log, runtime: cri, node: () => undefined, configured });
  return { view, wake: () => {}, early: [greeting(wiring), fill], late: [podCidr] };
}

export interface ClusterNodeWiring extends OwnNodeWiring {
  readonly api: HttpApiClient;
  readonly mirror: Reflector<Node>;
  /** How becoming a node is measured, and the work for it. */
  readonly startup?: NodeStartup;
  readonly watch?: WorkWatch;
}

/** The node of a cluster: registered, and kept up to date there. */
export function wireClusterNode(wiring: ClusterNodeWiring): WiredNode {
  const { settings, nodeName, clock, random, log, heartbeats, cri, api, mirror, events, startup, watch } = wiring;
  const { config } = settings;
  const common = { clock, random, log, heartbeats, api, watch };
  const csiNode = new CsiNodeRecord({ ...common, nodeName, onChange: () => status.wake() });
  const sources = nodeSources(wiring, () => csiNode.problem());
  const own = new OwnNode({ clock, log, settings: nodeSettings(wiring), sources });
  const view = new NodeView({ nodeName, mirror });
  const resetConnections = (): void => api.reset();
  const registration = new RegisterNode({
    ...common,
    own,
    diff,
    events,
    startup,
    registerNode: config.registerNode ?? true,
    resetExtendedResources: () => wiring.formerDevices.resetAll,
    onRegistered: (node) => {
      csiNode.begin(node);
      status.nodeRegistered(node);
    },
  });
  const status: NodeStatus = new NodeStatus({
    ...common,
    mirror,
    own,
    view,
    diff,
    events,
    updateMs: config.nodeStatusUpdateFrequency.toMillis(),
    reportMs: config.nodeStatusReportFrequency.toMillis(),
    registered: () => registration.isRegistered(),
    resetConnections,
    onReported: (reported) => startup?.reported(reported),
  });
  const podCidr = new PodCidr({
    clock,
    random,
    log,
    watch,
    runtime: cri,
    node: () => mirror.get({ name: nodeName }),
    configured: '',
  });
  const lease = new NodeLease({
    ...common,
    nodeName,
    durationSeconds: config.nodeLeaseDurationSeconds,
    node: () => {
      const { name, uid } = mirror.get({ name: nodeName })?.metadata ?? {};
      return name === undefined || uid === undefined ? undefined : { name, uid };
    },
    resetConnections,
  });
  mirror.listen((change) => {
    status.mirrorChanged(change);
    podCidr.look();
  });
  return {
    view,
    wake: () => status.wake(),
    driverRecord: csiNode,
    early: [greeting(wiring), status],
    late: [csiNode, registration, podCidr, lease],
  };
}

/** Says what an operator should see after each start. */
function greeting({ machine, events, lastRun }: OwnNodeWiring): Component {
  return {
    name: 'start-events',
    start: async () => {
      const { cgroupVersion, swapBytes } = machine;
      const tmpfsNoSwap = canKeepOutOfSwap(release());
      for (const event of startEvents({ cgroupVersion, swapBytes, tmpfsNoSwap, lastRun })) events.record(event);
    },
    stop: async () => {},
  };
}

const diff = (from: Node, to: Node): unknown => {
  const patch = createStrategicMergePatch(from, to, 'Node', { replaceLists: ['status.addresses'] });
  return Object.keys(patch).length === 0 ? undefined : patch;
};

function nodeSettings({ settings, nodeName }: OwnNodeWiring): NodeSettings {
  const { config, flags } = settings;
  return {
    nodeName,
    nodeIps: nodeAddresses(flags.nodeIp),
    externalCloudProvider: flags.cloudProvider === 'external',
    operatingSystem: 'linux',
    architecture: goArchitecture(arch()),
    kubeletVersion: settings.version,
    port: config.port,
    maxPods: config.maxPods,
    podsPerCore: config.podsPerCore,
    reserved: configuredReservations(settings),
    evictionHard: flags.experimentalAllocatableIgnoreEviction ? {} : (config.evictionHard ?? {}),
    localStorageCapacityIsolation: config.localStorageCapacityIsolation ?? true,
    maxImages: config.nodeStatusMaxImages ?? 50,
    labels: flags.nodeLabels,
    taints: config.registerWithTaints.map(({ timeAdded, ...taint }) => ({ ...taint, ...(timeAdded && { timeAdded }) })),
    providerId: config.providerID,
    controllerAttachDetach: config.enableControllerAttachDetach ?? true,
  };
}

function nodeSources(
  { settings, cri, machine, health, plegError, volumesInUse, formerDevices }: OwnNodeWiring,
  storageError: () => string | undefined,
): NodeSources {
  const { flags, featureGates } = settings;
  const announces = featureGates.all['RecursiveReadOnlyMounts'] || featureGates.all['UserNamespacesSupport'];
  return {
    host: {
      identity: () => readNodeInfo({ machineIdFiles: flags.machineIdFile, bootIdFile: flags.bootIdFile }),
      network: readNodeNetwork,
      lookup: lookupAddresses,
      capacity: () => nodeCapacity(machine),
      swapBytes: () => machine.swapBytes,
      rootFsBytes: async () => {
        const { blocks, bsize } = await statfs(flags.rootDir, { bigint: true });
        return blocks * bsize;
      },
    },
    runtime: cri,
    volumesInUse,
    devices: () => formerDevices.devices,
    notReady: () =>
      [...health.runtimeErrors(), plegError(), health.networkError(), storageError()].filter(
        (word) => word !== undefined,
      ),
    handlers: () =>
      announces
        ? ['', ...health.handlers()].flatMap((name) => {
            const features = health.handlerFeatures(name);
            return features ? [{ name, ...features }] : [];
          })
        : [],
    features: () => (health.features().supplementalGroupsPolicy ? { supplementalGroupsPolicy: true } : undefined),
  };
}
