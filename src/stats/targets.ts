import type { PodUid } from '../base/ids.ts';
import { cgroupPath, kubepodsCgroup, podCgroup, qosCgroup, type CgroupDriver } from '../model/cgroup-names.ts';
import { podQos } from '../model/qos.ts';
import type { SeenPod, StatsPods } from './ports.ts';

/** Where cgroups are, as configured. */
export interface CgroupLayout {
  readonly cgroupRoot: string;
  readonly cgroupDriver: CgroupDriver;
  /** Without it pods have no cgroups of their own, and containers are where the runtime puts them. */
  readonly cgroupsPerQos: boolean;
  /** Cgroups of services, each may be empty. That of the agent is not the same for ever. */
  readonly kubeletCgroups: string;
  readonly runtimeCgroups: string;
  readonly systemCgroups: string;
}

/** A pod of which something runs. */
export interface PodTarget {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
  /** Wall milliseconds. */
  readonly startedAt: number;
  readonly cgroup: string | undefined;
  /** Such a pod has no network of its own. */
  readonly hostNetwork: boolean;
  readonly sandbox: { readonly id: string; readonly createdAt: number } | undefined;
  readonly containers: readonly ContainerTarget[];
}

export interface ContainerTarget {
  readonly name: string;
  readonly id: string;
  readonly image: string;
  readonly createdAt: number;
}

export interface SystemTarget {
  readonly name: string;
  readonly cgroup: string;
}

/** The pods that use something: containers that run, of several of one name the newest, and sandboxes that are ready. */
export function podTargets(pods: StatsPods, cgroupLayout: CgroupLayout): readonly PodTarget[] {
  return pods.all().flatMap((pod) => podTarget(pod, cgroupLayout) ?? []);
}

const isReady = ({ state }: SeenPod['seen']['sandboxes'][number]): boolean => state === 'ready';

function podTarget({ pod, startTime, seen }: SeenPod, cgroupLayout: CgroupLayout): PodTarget | undefined {
  const sandbox = seen.sandboxes.find(isReady);
  const byName = new Map<string, ContainerTarget>();
  for (const { state, name, id, image, createdAt } of seen.containers) {
    if (state === 'running' && !byName.has(name)) byName.set(name, { name, id, image, createdAt });
  }
  const containers = [...byName.values()];
  if (sandbox === undefined && containers.length === 0) return undefined;
  const reported = startTime === undefined ? Number.NaN : Date.parse(startTime);
  return {
    uid: pod.uid,
    name: pod.name,
    namespace: pod.namespace,
    startedAt: Number.isNaN(reported) ? (sandbox?.createdAt ?? containers[0]?.createdAt ?? 0) : reported,
    cgroup: cgroupLayout.cgroupsPerQos
      ? cgroupPath(podCgroup(cgroupLayout.cgroupRoot, podQos(pod), pod.uid), cgroupLayout.cgroupDriver)
      : undefined,
    hostNetwork: pod.spec.hostNetwork === true || sandbox?.network === 'node',
    sandbox: sandbox && { id: sandbox.id, createdAt: sandbox.createdAt },
    containers,
  };
}

/** The cgroups of services that are configured, and that of all pods. */
export function systemTargets(cgroupLayout: CgroupLayout): readonly SystemTarget[] {
  const { cgroupRoot, cgroupDriver, cgroupsPerQos } = cgroupLayout;
  const all = cgroupsPerQos ? cgroupPath(kubepodsCgroup(cgroupRoot), cgroupDriver) : '';
  const named = [
    ['kubelet', cgroupLayout.kubeletCgroups],
    ['runtime', cgroupLayout.runtimeCgroups],
    ['misc', cgroupLayout.systemCgroups],
    ['pods', all],
  ] as const;
  return named.flatMap(([name, path]) => {
    const cgroup = plainPath(path);
    return cgroup === undefined ? [] : [{ name, cgroup }];
  });
}

/** The cgroups between all pods and single ones. */
export function tierCgroups({ cgroupRoot, cgroupDriver, cgroupsPerQos }: CgroupLayout): readonly string[] {
  if (!cgroupsPerQos) return [];
  return (['Burstable', 'BestEffort'] as const).map((qos) => cgroupPath(qosCgroup(cgroupRoot, qos), cgroupDriver));
}

/** A path as configured, which may lack its slash; one that leads out of the tree is none. */
function plainPath(path: string): string | undefined {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return parts.length === 0 || parts.includes('..') ? undefined : `/${parts.join('/')}`;
}
