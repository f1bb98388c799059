import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { podUidOfCgroup } from '../model/cgroup-names.ts';
import { podFields } from '../model/pod-log.ts';
import type {
  CgroupOwner,
  CgroupUsage,
  DiskActivity,
  FilesystemUsage,
  InterfaceUsage,
  OwnedUsage,
  UsageSnapshot,
} from '../model/usage.ts';
import type { ContainerCgroups } from './container-cgroups.ts';
import type { PodNetworks } from './pod-networks.ts';
import type { CgroupReader, MachineReader } from './ports.ts';
import type { RuntimeUsage } from './runtime-usage.ts';
import type { CoreSample } from './sampler.ts';
import { systemTargets, tierCgroups, type CgroupLayout, type ContainerTarget, type PodTarget } from './targets.ts';
import { yieldBetweenChunks } from './yield-between-chunks.ts';

interface SnapshotsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly cgroups: CgroupReader;
  readonly machine: MachineReader;
  readonly targets: () => readonly PodTarget[];
  readonly cgroupLayout: CgroupLayout;
  readonly containerCgroups: ContainerCgroups;
  readonly networks: PodNetworks;
  /** Gate KubeletPSI. */
  readonly pressure: boolean;
}

/** How sandboxes are called among containers. */
const sandboxName = 'POD';
/** A pod has three cgroups or more, of some twenty files each. */
const podsPerChunk = 3;

/** Everything the kernel reports of every cgroup of a page. */
export class Snapshots {
  readonly #deps: SnapshotsDeps;

  constructor(deps: SnapshotsDeps) {
    this.#deps = deps;
  }

  /** With what the runtime said last, and the file systems of the machine. */
  async take(
    runtime: RuntimeUsage | undefined,
    filesystems: readonly FilesystemUsage[],
    signal: AbortSignal,
  ): Promise<UsageSnapshot> {
    const { clock, cgroups, machine, targets, cgroupLayout } = this.#deps;
    cgroups.begin();
    const root = this.#read('/');
    const found: OwnedUsage[] = root
      ? [
          {
            usage: { ...root, createdAt: machine.bootTime() },
            owner: undefined,
            network: machine.interfaces('self'),
            filesystems: withDisks(filesystems, machine.disks()),
          },
        ]
      : [];
    const services = systemTargets(cgroupLayout).map(({ cgroup }) => cgroup);
    for (const path of new Set([...services, ...tierCgroups(cgroupLayout)])) {
      const usage = this.#read(path);
      if (usage) found.push(owned({ ...usage, createdAt: cgroups.createdAt(path) }, undefined));
    }
    const all = targets();
    for (let from = 0; from < all.length; from += podsPerChunk) {
      await yieldBetweenChunks(from, signal);
      for (const pod of all.slice(from, from + podsPerChunk)) found.push(...this.#pod(pod, runtime));
    }
    return { at: clock.now(), pressure: this.#deps.pressure, cgroups: found };
  }

  #pod(pod: PodTarget, runtime: RuntimeUsage | undefined): readonly OwnedUsage[] {
    const { containerCgroups, networks } = this.#deps;
    const own = pod.cgroup === undefined ? undefined : this.#read(pod.cgroup);
    const containers: OwnedUsage[] = [];
    for (const container of pod.containers) {
      const usage = containerCgroups.find(pod.cgroup, container.id, this.#read);
      if (usage === undefined) continue;
      const layer = runtime?.layers.get(container.id);
      const entry = owned({ ...usage, createdAt: container.createdAt }, ownerOf(pod, container));
      containers.push(layer === undefined ? entry : { ...entry, filesystems: [layer] });
    }
    const network = networks.of(pod, containers);
    const sandbox = pod.sandbox && containerCgroups.find(pod.cgroup, pod.sandbox.id, this.#read);
    return [
      // Without a cgroup for the sandbox the pod's own carries what belongs to both.
      ...(own ? [owned(since(own, pod), ownerOf(pod), sandbox ? [] : network)] : []),
      ...(sandbox ? [owned(since(sandbox, pod), ownerOf(pod, sandboxTarget(pod)), network)] : []),
      ...containers,
    ];
  }

  /** A cgroup that cannot be read is logged and left out, the others are read. */
  readonly #read = (path: string): CgroupUsage | undefined => {
    try {
      return this.#deps.cgroups.read(path, 'everything');
    } catch (error) {
      this.#deps.log.error(error, 'Cannot read the usage of a cgroup', {
        ...podFields({ uid: podUidOfCgroup(path) }),
        cgroup: path,
      });
      return undefined;
    }
  };
}

/** The same without what costs more: CPU, memory and swap of the node, pods and containers. */
export function coreSnapshot({ at, node, system, pods }: CoreSample): UsageSnapshot {
  return {
    at,
    pressure: false,
    cgroups: [
      ...(node ? [owned(node.usage, undefined)] : []),
      ...system.map(({ usage }) => owned(usage, undefined)),
      ...pods.flatMap(({ target, own, containers }) => [
        ...(own ? [owned(since(own.usage, target), ownerOf(target))] : []),
        ...containers.map(({ usage, target: container }) =>
          owned({ ...usage, createdAt: container.createdAt }, ownerOf(target, container)),
        ),
      ]),
    ],
  };
}

function withDisks(
  filesystems: readonly FilesystemUsage[],
  disks: ReadonlyMap<string, DiskActivity>,
): readonly FilesystemUsage[] {
  return filesystems.map((filesystem) => {
    const disk = disks.get(filesystem.device ?? '');
    return disk === undefined ? filesystem : { ...filesystem, disk };
  });
}

function owned(
  usage: CgroupUsage,
  owner: CgroupOwner | undefined,
  network: readonly InterfaceUsage[] = [],
): OwnedUsage {
  return { usage, owner, network, filesystems: [] };
}

/** The runtime remembers when a sandbox was made; the kernel may forget when a cgroup was. */
const since = (usage: CgroupUsage, { sandbox, startedAt }: PodTarget): CgroupUsage => ({
  ...usage,
  createdAt: sandbox?.createdAt ?? startedAt,
});

const sandboxTarget = ({ sandbox }: PodTarget): ContainerTarget => ({
  name: sandboxName,
  id: sandbox?.id ?? '',
  image: '',
  createdAt: sandbox?.createdAt ?? 0,
});

const ownerOf = (pod: PodTarget, container?: ContainerTarget): CgroupOwner => ({
  namespace: pod.namespace,
  pod: pod.name,
  podUid: pod.uid,
  container: container?.name ?? '',
  id: container?.id ?? '',
  image: container?.image ?? '',
});
