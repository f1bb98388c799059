import type { CommonPorts } from '../model/common-ports.ts';
import type { Component } from '../base/component.ts';
import type { PodRemoval } from '../model/pod-removal.ts';
import {
  AgentCgroup,
  cgroupOwner,
  CgroupVersionCheck,
  CgroupWriter,
  NodeCgroups,
  nodeCgroupSettings,
  noPodCgroups,
  PodCgroups,
  podCgroupSettings,
  qosSettings,
  QosTiers,
  SystemdSlices,
  type CgroupOwner,
  type CgroupPods,
  type CgroupSettings,
  type CgroupTree,
  type NodeEvents,
  type PodContainerManager,
  type ProcessTree,
  type RemoveEmpty,
} from './cgroups/index.ts';

export type { CgroupSettings } from './cgroups/index.ts';

/** The machine's cgroups, opened before. */
export interface CgroupHost {
  readonly tree: CgroupTree & { readonly controllers: ReadonlySet<string> };
  readonly processes: ProcessTree;
  readonly removeEmpty: RemoveEmpty;
}

interface CgroupsWiring {
  readonly ports: CommonPorts;
  readonly signals: { readonly podRemoval: Pick<PodRemoval, 'register'> };
  readonly settings: CgroupSettings;
  readonly host: CgroupHost;
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

/** The cgroups of pods, made by the agent or the runtime, and that of the agent. */
export function createCgroups(wiring: CgroupsWiring): Cgroups {
  const { ports, settings, host } = wiring;
  const agentCgroup = new AgentCgroup({ ...ports, tree: host.processes, configured: settings.kubeletCgroups });
  const version = new CgroupVersionCheck({
    metrics: ports.metrics,
    version: settings.cgroupVersion,
    failCgroupV1: settings.failCgroupV1,
  });
  const ofPods = byOwner[cgroupOwner(settings)](wiring);
  return {
    components: [agentCgroup, version, ...ofPods.components],
    podContainers: ofPods.podContainers,
    agentCgroup,
  };
}

type PodCgroupsPart = Pick<Cgroups, 'components' | 'podContainers'>;

const byOwner: Readonly<Record<CgroupOwner, (wiring: CgroupsWiring) => PodCgroupsPart>> = {
  none: () => ({ components: [], podContainers: noPodCgroups }),
  runtime: ({ ports, host, settings }) => {
    const slices = new SystemdSlices({
      log: ports.log,
      removeEmpty: host.removeEmpty,
      cgroupRoot: settings.cgroupRoot,
    });
    return { components: [slices], podContainers: slices };
  },
  agent: createPodCgroups,
};

function createPodCgroups({ ports, signals, settings, host, pods, events }: CgroupsWiring): PodCgroupsPart {
  const { cgroupRoot, cgroupVersion: version } = settings;
  const { tree } = host;
  const { controllers } = tree;
  const writer = new CgroupWriter({ ...ports, tree, version, controllers });
  const nodeSettings = nodeCgroupSettings(settings);
  const node = new NodeCgroups({ log: ports.log, writer, events, version, controllers, settings: nodeSettings });
  const tiers = new QosTiers({ log: ports.log, writer, pods, cgroupRoot, version, settings: qosSettings(settings) });
  const cgroups = new PodCgroups({
    ...ports,
    writer,
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
