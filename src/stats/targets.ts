import type { PodUid } from '../base/ids.ts';
import { cgroupPath, kubepodsCgroup, podCgroup, qosCgroup, type CgroupDriver } from '../model/cgroup-names.ts';
import { podQos } from '../model/qos.ts';
import type { SeenPod, StatsPods } from './ports.ts';

/** Where cgroups are, as configured. */
export interface CgroupPlaces {
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

interface KnownTarget {
  readonly of: SeenPod;
  readonly target: PodTarget | undefined;
}

/**
 * The pods that use something: containers that run, of several of one name the newest, and sandboxes that are ready. Most
 * have not changed from one page to the next.
 */
export class PodTargets {
  readonly #pods: StatsPods;
  readonly #places: CgroupPlaces;
  readonly #known = new WeakMap<SeenPod['seen'], KnownTarget>();

  constructor(pods: StatsPods, places: CgroupPlaces) {
    this.#pods = pods;
    this.#places = places;
  }

  all(): readonly PodTarget[] {
    const targets: PodTarget[] = [];
    for (const pod of this.#pods.all()) {
      const target = this.#targetOf(pod);
      if (target !== undefined) targets.push(target);
    }
    return targets;
  }

  #targetOf(pod: SeenPod): PodTarget | undefined {
    const known = this.#known.get(pod.seen);
    if (known !== undefined && known.of.pod === pod.pod && known.of.startTime === pod.startTime) return known.target;
    const target = podTarget(pod, this.#places);
    this.#known.set(pod.seen, { of: pod, target });
    return target;
  }
}

const isReady = ({ state }: SeenPod['seen']['sandboxes'][number]): boolean => state === 'ready';

function podTarget({ pod, startTime, seen }: SeenPod, places: CgroupPlaces): PodTarget | undefined {
  const sandbox = seen.sandboxes.find(isReady);
  const byName = new Map<string, ContainerTarget>();
  for (const { state, name, id, image, createdAt } of seen.containers) {
    if (state === 'running' && !byName.has(name)) byName.set(name, { name, id, image, createdAt });
  }
  const containers = [...byName.values()];
  if (sandbox === undefined && containers.length === 0) return undefined;
  const told = startTime === undefined ? Number.NaN : Date.parse(startTime);
  return {
    uid: pod.uid,
    name: pod.name,
    namespace: pod.namespace,
    startedAt: Number.isNaN(told) ? (sandbox?.createdAt ?? containers[0]?.createdAt ?? 0) : told,
    cgroup: places.cgroupsPerQos
      ? cgroupPath(podCgroup(places.cgroupRoot, podQos(pod), pod.uid), places.cgroupDriver)
      : undefined,
    hostNetwork: pod.spec.hostNetwork === true || sandbox?.network === 'node',
    sandbox: sandbox && { id: sandbox.id, createdAt: sandbox.createdAt },
    containers,
  };
}

/** The cgroups of services that somebody named, and that of all pods. */
export function systemTargets(places: CgroupPlaces): readonly SystemTarget[] {
  const { cgroupRoot, cgroupDriver, cgroupsPerQos } = places;
  const all = cgroupsPerQos ? cgroupPath(kubepodsCgroup(cgroupRoot), cgroupDriver) : '';
  const named = [
    ['kubelet', places.kubeletCgroups],
    ['runtime', places.runtimeCgroups],
    ['misc', places.systemCgroups],
    ['pods', all],
  ] as const;
  return named.flatMap(([name, path]) => {
    const cgroup = plainPath(path);
    return cgroup === undefined ? [] : [{ name, cgroup }];
  });
}

/** The cgroups between all pods and single ones. */
export function tierCgroups({ cgroupRoot, cgroupDriver, cgroupsPerQos }: CgroupPlaces): readonly string[] {
  if (!cgroupsPerQos) return [];
  return (['Burstable', 'BestEffort'] as const).map((qos) => cgroupPath(qosCgroup(cgroupRoot, qos), cgroupDriver));
}

/** A path as configured, which may lack its slash; one that leads out of the tree is none. */
function plainPath(path: string): string | undefined {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return parts.length === 0 || parts.includes('..') ? undefined : `/${parts.join('/')}`;
}
