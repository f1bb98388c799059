import type { PodUid } from '../../src/base/ids.ts';
import { Inode } from './disk/inode.ts';
import type { MountRecord, Place } from './disk/mount-table.ts';
import type { SimDisk } from './disk/sim-disk.ts';
import type { Complain } from './runtime-rules.ts';
import {
  contentsProblem,
  hiddenName,
  kindOf,
  readMount,
  valueProblem,
  type Storage,
  type VolumeKind,
} from './storage.ts';

const podsFolder = '/var/lib/kubelet/pods/';

/** A volume, or a part of one, as a container got it. */
interface Use {
  readonly uid: PodUid;
  readonly kind: VolumeKind;
  readonly isPart: boolean;
  readonly place: Place;
  /** What the container wrote there. */
  readonly written: Inode | undefined;
}

/** To whom data belongs: a pod, in one life of its manifest. */
interface Whose {
  readonly uid: PodUid;
  readonly life: number;
}

/** A container and the places on the machine that it shows under paths of its own. */
export interface UsingContainer {
  readonly id: string;
  readonly name: string;
  /** The group that the pod's volumes must have. */
  readonly group: number | undefined;
  readonly mounts: readonly { readonly containerPath: string; readonly hostPath: string }[];
}

/** What the rules must know of the machine. */
export interface VolumeWorld {
  readonly disk: SimDisk;
  readonly storage: Storage;
  /** The containers that run now. */
  running(): readonly { readonly id: string; readonly name: string }[];
  /** Something of the pod runs, or is to run. */
  isNeeded(whose: Whose): boolean;
}

/** Rules about volumes: nothing is lost that a pod still needs, and nothing is removed that is not the agent's. */
export class VolumeRules {
  readonly #world: VolumeWorld;
  readonly #complain: Complain;
  readonly #uses = new Map<string, readonly Use[]>();
  /** What containers wrote to volumes that live as long as their pod. */
  readonly #data = new Map<Inode, Whose>();
  /** What was first shown to a pod under a path: it stays that. */
  readonly #shown = new Map<string, Inode>();

  constructor(world: VolumeWorld, complain: Complain) {
    this.#world = world;
    this.#complain = complain;
  }

  /** A process is about to start, with the mounts that its container was made with. */
  starting(pod: { readonly name: string; readonly uid: PodUid }, life: number, container: UsingContainer): void {
    const uses = container.mounts.flatMap(({ containerPath, hostPath }): readonly Use[] => {
      const mount = readMount(containerPath);
      if (mount === undefined) return [];
      const place = this.#world.disk.table.walk(hostPath);
      const what = `${container.name} starts with ${containerPath}`;
      if (place === undefined) {
        this.#complain(`${what}, and ${hostPath} is not there`);
        return [];
      }
      const problem = this.#wrong(pod.name, mount, place) ?? groupProblem(mount, place.inode, container.group);
      if (problem !== undefined) this.#complain(`${what}, and ${problem}`);
      if (kindOf(mount.kind).keeps === 'pod') this.#isSame(`${pod.uid} ${life} ${containerPath}`, place.inode, what);
      const written = this.#write(mount.kind, place.inode, container, { uid: pod.uid, life });
      return [{ uid: pod.uid, ...mount, place, written }];
    });
    this.#uses.set(container.id, uses);
  }

  /** Looks at all that running containers use: called when an agent has died, and when a node has settled. */
  inspect(when: string): void {
    for (const { id, name } of this.#world.running()) {
      for (const use of this.#uses.get(id) ?? []) {
        const problem = this.#lost(use);
        if (problem !== undefined) this.#complain(`${when}: ${use.kind} of ${name}: ${problem}`);
      }
    }
    const lost = this.#world.storage.heirlooms.find(({ parent }) => parent === undefined);
    if (lost !== undefined) this.#complain(`${when}: ${lost.name} of ${lost.fs.name} is gone`);
  }

  removed(inode: Inode, path: string): void {
    const owner = this.#world.storage.precious.find((top) => inode.isWithin(top));
    if (owner !== undefined) this.#complain(`${path} is removed through a mount: it is of ${owner.fs.name}`);
    this.#mayGo(inode, `${path} is removed`);
    const bound = this.#world.disk.table.all().find(({ root, on }) => root === inode && on !== undefined);
    // Another version of contents takes the place of one that a running container still has a file of.
    if (bound !== undefined && !/\/\.\.20[^/]*(\/|$)/.test(path)) {
      this.#complain(`${path} is removed before ${bound.path} is unbound`);
    }
  }

  mounted(mount: MountRecord): void {
    const twice = this.#world.disk.table.all().find((other) => other !== mount && other.path === mount.path);
    if (twice !== undefined) this.#complain(`${mount.path} is mounted twice`);
  }

  unmounted(mount: MountRecord): void {
    for (const { id, name } of this.#world.running()) {
      const isUsed = (this.#uses.get(id) ?? []).some(({ place }) => place.mount === mount);
      if (isUsed) this.#complain(`${mount.path} is unmounted while ${name} uses it`);
    }
    const mounts = this.#world.disk.table.all();
    const uid = uidIn(mount.path);
    const part = mounts.find(
      ({ path, root }) => path.startsWith(`${podsFolder}${uid}/volume-subpaths/`) && root.isWithin(mount.root),
    );
    if (part !== undefined && mount.path.includes('/volumes/')) {
      this.#complain(`${mount.path} is unmounted before its part ${part.path}`);
    }
    const isLast = mount.root.fs.kind === 'tmpfs' && !mounts.some(({ root }) => root.fs === mount.root.fs);
    if (!isLast) return;
    for (const inode of [...mount.root.below(), mount.root]) this.#mayGo(inode, `${mount.path} is unmounted`);
  }

  crossing(path: string, mount: MountRecord): void {
    this.#complain(`the removal of ${path} would go through ${mount.path}`);
  }

  /** What was in memory is gone with the machine's power, and nobody is to blame. */
  rebooted(): void {
    for (const [inode] of this.#data) if (inode.fs.kind === 'tmpfs') this.#data.delete(inode);
    for (const [key, inode] of this.#shown) if (inode.fs.kind === 'tmpfs') this.#shown.delete(key);
  }

  /** Why a container would see something else than its pod is to have. */
  #wrong(pod: string, { kind, isPart }: { kind: VolumeKind; isPart: boolean }, { inode }: Place): string | undefined {
    const { keeps, mountedAt, part } = kindOf(kind);
    if (keeps === undefined) {
      if (kind === 'self' && isPart) return inode.content === pod ? undefined : `it says "${inode.content}"`;
      return isPart ? valueProblem(inode.content, 'fixed') : seenProblem(kind, inode);
    }
    if (keeps === 'pod') {
      const wanted = mountedAt === undefined ? 'disk' : 'tmpfs';
      return inode.fs.kind === wanted ? undefined : `it is on ${inode.fs.kind} and not on ${wanted}`;
    }
    const top = this.#world.storage.topOf(kind, pod, this.#world.disk);
    const right = isPart ? part.split('/').reduce<Inode | undefined>((at, name) => at?.children.get(name), top) : top;
    return inode === right ? undefined : 'it shows something else than the volume';
  }

  #isSame(key: string, inode: Inode, what: string): void {
    const before = this.#shown.get(key);
    if (before !== undefined && before !== inode) this.#complain(`${what}, and that is another one than before`);
    this.#shown.set(key, inode);
  }

  #write(kind: VolumeKind, folder: Inode, container: UsingContainer, whose: Whose): Inode | undefined {
    const { keeps } = kindOf(kind);
    if (keeps === undefined || folder.kind !== 'folder') return undefined;
    const file = folder.add(`by-${container.name}`, new Inode(folder.fs, 'file', 0o644));
    if (keeps === 'pod') this.#data.set(file, whose);
    return file;
  }

  #lost({ kind, isPart, place, written }: Use): string | undefined {
    const { mount, inode } = place;
    if (!this.#world.disk.table.has(mount)) return `what was mounted at ${mount.path} is not any more`;
    if (written !== undefined && written.parent !== inode) return `what it wrote to ${mount.path} is gone`;
    return kindOf(kind).keeps === undefined && !isPart ? contentsProblem(kind, inode) : undefined;
  }

  /** Data goes with its pod: when nothing of it runs, and nobody wants it to. */
  #mayGo(inode: Inode, deed: string): void {
    const whose = this.#data.get(inode);
    if (whose !== undefined && this.#world.isNeeded(whose)) this.#complain(`${deed} with data of ${whose.uid}`);
    this.#data.delete(inode);
    for (const [key, shown] of this.#shown) if (shown === inode) this.#shown.delete(key);
  }
}

/** A volume of the pod's own belongs to its group; what containers made in it since is theirs. */
function groupProblem(
  { kind, isPart }: { readonly kind: VolumeKind; readonly isPart: boolean },
  { gid }: Inode,
  group: number | undefined,
): string | undefined {
  if (group === undefined || isPart || kindOf(kind).keeps !== 'pod' || gid === group) return undefined;
  return `its group is ${gid} and not ${group}`;
}

/** What a container sees that starts now: contents as a whole, and each under its name. */
function seenProblem(kind: VolumeKind, folder: Inode): string | undefined {
  const hidden = hiddenName(folder);
  return contentsProblem(kind, folder) ?? (hidden === undefined ? undefined : `${hidden} is not to be seen`);
}

const uidIn = (path: string): string => path.slice(podsFolder.length).split('/')[0] ?? '';
