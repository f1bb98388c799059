import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { TubeletError } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Random } from '../../base/random.ts';
import type { Settings } from '../../config/index.ts';
import { HostCgroups, nodeCapacity, removeCgroup, type Machine } from '../../host/index.ts';
import { cgroupPath, podCgroup } from '../../model/cgroup-names.ts';
import { nodeAllocatable, reservationsOf, type Reservations } from '../../model/node-allocatable.ts';
import { Quantity } from '../../model/quantity.ts';
import type { RuntimeSettings } from '../../model/runtime-settings.ts';
import type { Cgroups } from '../../pods/sync/index.ts';
import {
  CgroupWriter,
  NodeCgroups,
  PodCgroups,
  QosTiers,
  type NodeEvents,
  type Pods,
} from '../../resources/cgroups/index.ts';
import type { PodMachine } from './pod-machine.ts';

export interface PodCgroupsWiring {
  readonly clock: Clock;
  readonly random: Random;
  readonly heartbeats: Heartbeats;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly settings: Settings;
  readonly ours: RuntimeSettings;
  readonly machine: Machine;
  readonly events: NodeEvents;
  /** The pods; there are some when the components start. */
  readonly pods: () => PodMachine;
}

export interface WiredCgroups {
  readonly cgroups: Cgroups;
  /** To be started before anything that could start a pod. */
  readonly components: readonly Component[];
}

export function wirePodCgroups(wiring: PodCgroupsWiring): WiredCgroups {
  const { ours, log } = wiring;
  const version = versionCheck(wiring);
  if (!ours.cgroupsPerQos) return { cgroups: leftToRuntime(async () => {}), components: [version] };
  if (ours.cgroupDriver === 'systemd') {
    return { cgroups: leftToRuntime((uid) => removeSlices(uid, ours)), components: [version, systemdNotice(log)] };
  }
  const cgroups = buildCgroups(wiring);
  return { cgroups, components: [version, cgroups] };
}

function buildCgroups({
  clock,
  random,
  log,
  heartbeats,
  metrics,
  settings,
  ours,
  machine,
  events,
  pods,
}: PodCgroupsWiring): PodCgroups {
  const { config } = settings;
  const { cgroupRoot, cgroupVersion: version } = ours;
  const { hugePageSizes } = machine;
  const memoryQos = version === 2 && ours.featureGates('MemoryQoS');
  const capacity = nodeCapacity(machine);
  const reserved = configuredReservations(settings);
  const tree = HostCgroups.open({ version, clock });
  const { controllers } = tree;
  const writer = new CgroupWriter({ clock, log, tree, version, controllers, metrics });
  const view = podsView(pods);
  const node = new NodeCgroups({
    log,
    writer,
    events,
    version,
    controllers,
    settings: {
      cgroupRoot,
      capacity,
      reserved,
      enforced: config.enforceNodeAllocatable,
      systemReservedCgroup: config.systemReservedCgroup,
      kubeReservedCgroup: config.kubeReservedCgroup,
      memoryQos,
      hugePageSizes,
    },
  });
  const reservedMemory = config.qosReserved['memory'];
  const tiers = new QosTiers({
    log,
    writer,
    pods: view,
    cgroupRoot,
    version,
    settings: {
      hugePageSizes,
      memoryQos,
      allocatableMemoryBytes: Quantity.parse(nodeAllocatable(capacity, reserved)['memory'] ?? '0').value(),
      ...(reservedMemory !== undefined && { reservedMemoryPercent: percentOf(reservedMemory) }),
    },
  });
  return new PodCgroups({
    clock,
    random,
    log,
    heartbeats,
    writer,
    node,
    tiers,
    pods: view,
    cgroupRoot,
    settings: {
      cpuCfsQuota: ours.cpuCfsQuota,
      cpuPeriodUs: BigInt(Math.round(ours.cpuCfsQuotaPeriodMs * 1_000)),
      podPidsLimit: config.podPidsLimit,
      memoryQos,
      hugePageSizes,
    },
  });
}

/** What the configuration keeps from pods. */
export function configuredReservations({ config }: Pick<Settings, 'config'>): Reservations {
  return reservationsOf(config.kubeReserved, config.systemReserved, config.reservedSystemCPUs);
}

function podsView(machine: () => PodMachine): Pods {
  return {
    active: () => machine().activePods.activePods(),
    complete: () => machine().unknownPods.sourcesReady(),
    isUnknown: (uid) => machine().unknownPods.isUnknown(uid),
  };
}

/** Version 1 still works, but its days are counted; some would rather not start on it. */
function versionCheck({ metrics, settings, machine }: PodCgroupsWiring): Component {
  const gauge = metrics.gauge({
    name: 'kubelet_cgroup_version',
    help: 'Version of the cgroup interface that this machine uses.',
    stability: 'ALPHA',
  });
  return {
    name: 'cgroup-version',
    async start() {
      gauge.set(machine.cgroupVersion);
      if (machine.cgroupVersion === 1 && settings.config.failCgroupV1) {
        throw new TubeletError('unsupported', 'this machine uses cgroup v1, and failCgroupV1 is true; boot it with v2');
      }
    },
    async stop() {},
  };
}

/** Slices are systemd's to make, and it makes them when the runtime asks for the first container in one. */
function systemdNotice(log: Log): Component {
  return {
    name: 'pod-cgroups',
    async start() {
      log.warn('With cgroupDriver systemd the slices of pods are made by the runtime, without limits of their own', {
        notEnforced: ['enforceNodeAllocatable', 'podPidsLimit', 'qosReserved', 'limits of whole pods'],
      });
    },
    async stop() {},
  };
}

const leftToRuntime = (remove: Cgroups['remove']): Cgroups => ({ exist: () => true, ensure: async () => {}, remove });

async function removeSlices(uid: PodUid, { cgroupRoot }: RuntimeSettings): Promise<void> {
  for (const qos of ['Guaranteed', 'Burstable', 'BestEffort'] as const) {
    const removal = await removeCgroup(cgroupPath(podCgroup(cgroupRoot, qos, uid), 'systemd'));
    if (removal.removed) continue;
    throw new TubeletError('conflict', `processes of pod ${uid} are still in ${removal.busy.join(', ')}`);
  }
}

/** `50%` → 50. */
const percentOf = (text: string): bigint => BigInt(Math.floor(Number.parseFloat(text)));
