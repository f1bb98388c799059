import type { CommonPorts } from '../model/common-ports.ts';
import type { Component } from '../base/component.ts';
import type { SystemdUnits } from '../model/systemd-units.ts';
import type { PodRemoval } from '../model/pod-removal.ts';
import {
  AgentCgroup,
  CgroupfsManager,
  CgroupVersionCheck,
  CgroupWriter,
  MeasuredManager,
  NodeCgroups,
  nodeCgroupSettings,
  noPodCgroups,
  noSystemd,
  PodCgroups,
  podCgroupSettings,
  qosSettings,
  QosTiers,
  SystemdManager,
  type CgroupManager,
  type CgroupPods,
  type CgroupSettings,
  type CgroupTree,
  type NodeEvents,
  type PodContainerManager,
  type ProcessTree,
} from './cgroups/index.ts';

export type { CgroupSettings } from './cgroups/index.ts';

/** The machine's cgroups, opened before. */
export interface CgroupHost {
  readonly tree: CgroupTree & { readonly controllers: ReadonlySet<string> };
  readonly processes: ProcessTree;
}

interface CgroupsWiring {
  readonly ports: CommonPorts;
  readonly signals: { readonly podRemoval: Pick<PodRemoval, 'register'> };
  readonly settings: CgroupSettings;
  readonly host: CgroupHost;
  /** Undefined on a machine without systemd. */
  readonly units: SystemdUnits | undefined;
  readonly pods: CgroupPods;
  readonly events: NodeEvents;
}

export interface Cgroups {
  /** In the order in which they start, before anything that could start a pod. */
  readonly components: readonly Component[];
  readonly podContainers: PodContainerManager;
  /** The cgroup whose usage is the agent's. */
  readonly agentCgroup: Pick<AgentCgroup, 'path'>;
}

/** The cgroups of pods, and that of the agent. */
export function createCgroups(wiring: CgroupsWiring): Cgroups {
  const { ports, settings, host } = wiring;
  const agentCgroup = new AgentCgroup({ ...ports, tree: host.processes, configured: settings.kubeletCgroups });
  const version = new CgroupVersionCheck({ metrics: ports.metrics, settings });
  const ofPods = settings.cgroupsPerQos ? createPodCgroups(wiring) : { components: [], podContainers: noPodCgroups };
  return {
    components: [agentCgroup, version, ...ofPods.components],
    podContainers: ofPods.podContainers,
    agentCgroup,
  };
}

type PodCgroupsPart = Pick<Cgroups, 'components' | 'podContainers'>;

function createPodCgroups(wiring: CgroupsWiring): PodCgroupsPart {
  const { ports, signals, settings, host, pods, events } = wiring;
  const { cgroupRoot, cgroupVersion: version } = settings;
  const { controllers } = host.tree;
  const manager = new MeasuredManager({ ...ports, manager: createManager(wiring) });
  const nodeSettings = nodeCgroupSettings(settings);
  const node = new NodeCgroups({ log: ports.log, manager, events, version, controllers, settings: nodeSettings });
  const tiers = new QosTiers({ log: ports.log, manager, pods, cgroupRoot, version, settings: qosSettings(settings) });
  const cgroups = new PodCgroups({
    ...ports,
    manager,
    node,
    tiers,
    pods,
    cgroupRoot,
    settings: podCgroupSettings(settings),
    // No manager gives CPUs to one pod alone yet.
    hasExclusiveCpus: () => false,
  });
  signals.podRemoval.register('pod-cgroups', { forget: (uid) => cgroups.forget(uid), size: () => cgroups.size() });
  // A removal under way ends by itself, and a pod that comes back waits for it.
  signals.podRemoval.register('pod-cgroup-removals', { forget: () => {}, size: () => cgroups.removalsUnderWay() });
  return { components: [cgroups], podContainers: cgroups };
}

function createManager({ ports, settings, host, units }: CgroupsWiring): CgroupManager {
  const { tree } = host;
  const { cgroupVersion: version } = settings;
  const writer = new CgroupWriter({ log: ports.log, tree, version, controllers: tree.controllers });
  if (settings.cgroupDriver === 'cgroupfs') return new CgroupfsManager({ tree, writer });
  return new SystemdManager({ tree, writer, version, units: units ?? noSystemd });
}
