import { basename } from 'node:path';
import type { Volume, VolumeMount } from '../../src/gen/kubernetes/types.ts';
import type { PodSource } from '../../src/model/desired-pod.ts';
import type { StandaloneObject } from '../../src/model/standalone-object.ts';
import { MemoryClaims } from '../../src/testing/persistent-volumes.ts';
import { Inode } from './disk/inode.ts';
import type { SimDisk } from './disk/sim-disk.ts';

/** Volumes of plans, by what they are for; a volume has the name of its kind. */
export type VolumeKind = keyof typeof kinds;

interface Kind {
  readonly source: (pod: string) => Omit<Volume, 'name'>;
  /** The folder below the pod's volumes on which something is mounted; unset where nothing is. */
  readonly mountedAt?: (pod: string) => string;
  /** A part of it that every version has. */
  readonly part: string;
  /** Containers write to it, and it keeps what they wrote for as long as the pod lives, or for ever. */
  readonly keeps?: 'pod' | 'ever';
  /** Static pods have it not: they may name no object of the API. */
  readonly isOfApi?: true;
}

export const csiDriver = 'sim.csi.example.com';
const device = '/dev/disk-a';
const exported = { server: 'files.example.com', path: '/export' };
const hostFolder = (pod: string): string => `/srv/host/${pod}`;
const localFolder = (pod: string): string => `/srv/local/${pod}`;
const claim = (claimName: string): Omit<Volume, 'name'> => ({ persistentVolumeClaim: { claimName } });
const ownName = { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] };

const kinds = {
  scratch: { source: () => ({ emptyDir: {} }), part: 'a/b', keeps: 'pod' },
  memory: {
    source: () => ({ emptyDir: { medium: 'Memory' } }),
    mountedAt: () => 'kubernetes.io~empty-dir/memory',
    part: 'a/b',
    keeps: 'pod',
  },
  config: { source: () => ({ configMap: { name: 'settings' } }), part: 'fixed', isOfApi: true },
  keys: {
    source: () => ({ secret: { secretName: 'keys' } }),
    mountedAt: () => 'kubernetes.io~secret/keys',
    isOfApi: true,
    part: 'fixed',
  },
  self: {
    source: () => ({ downwardAPI: ownName }),
    mountedAt: () => 'kubernetes.io~downward-api/self',
    part: 'name',
  },
  all: {
    source: () => ({
      projected: {
        sources: [
          { configMap: { name: 'settings' } },
          { secret: { name: 'keys', items: [{ key: 'fixed', path: 'deep/fixed' }] } },
          { downwardAPI: ownName },
        ],
      },
    }),
    mountedAt: () => 'kubernetes.io~projected/all',
    isOfApi: true,
    part: 'deep/fixed',
  },
  host: {
    source: (pod) => ({ hostPath: { path: hostFolder(pod), type: 'DirectoryOrCreate' } }),
    part: 'a/b',
    keeps: 'ever',
  },
  local: {
    source: (pod) => claim(`local-${pod}`),
    mountedAt: (pod) => `kubernetes.io~local-volume/pv-local-${pod}`,
    isOfApi: true,
    part: 'a/b',
    keeps: 'ever',
  },
  device: {
    source: () => claim('disk'),
    mountedAt: () => 'kubernetes.io~local-volume/pv-disk',
    isOfApi: true,
    part: 'a/b',
    keeps: 'ever',
  },
  remote: {
    source: () => claim('remote'),
    mountedAt: () => 'kubernetes.io~nfs/pv-remote',
    isOfApi: true,
    part: 'a/b',
    keeps: 'ever',
  },
  driven: {
    source: () => claim('driven'),
    mountedAt: () => 'kubernetes.io~csi/pv-driven/mount',
    isOfApi: true,
    part: 'a/b',
    keeps: 'ever',
  },
  inline: {
    source: () => ({ csi: { driver: csiDriver } }),
    mountedAt: () => 'kubernetes.io~csi/inline/mount',
    isOfApi: true,
    part: 'a/b',
    keeps: 'ever',
  },
} satisfies Readonly<Record<string, Kind>>;

export const volumeKinds = Object.keys(kinds) as readonly VolumeKind[];
export const volumeKindsOf = (source: PodSource): readonly VolumeKind[] =>
  volumeKinds.filter((name) => source === 'api' || kindOf(name).isOfApi !== true);
export const kindOf = (name: VolumeKind): Kind => kinds[name];

/** How a pod's containers see a volume: as a whole, a part of it, or both. */
export type Shown = 'whole' | 'part' | 'both';

export function mountsOf(name: VolumeKind, shown: Shown): readonly VolumeMount[] {
  const whole = { name, mountPath: `/${name}` };
  const part = { name, mountPath: `/${name}-part`, subPath: kindOf(name).part };
  return shown === 'both' ? [whole, part] : shown === 'whole' ? [whole] : [part];
}

/** What a mount in a container is of; nothing for the agent's own files. */
export function readMount(containerPath: string): { readonly kind: VolumeKind; readonly isPart: boolean } | undefined {
  const name = containerPath.slice(1).replace(/-part$/, '');
  return name in kinds ? { kind: name as VolumeKind, isPart: containerPath.endsWith('-part') } : undefined;
}

/** What pods' volumes are made of beside the agent's own files: objects of the API, folders, disks, other machines. */
export class Storage {
  readonly claims = new MemoryClaims();
  /** What mount(8) finds behind a name. */
  readonly sources = new Map<string, Inode>();
  /** The tops of what is not the agent's: whatever is below them is somebody's data. */
  readonly precious: readonly Inode[];
  /** Files that were there before every agent. */
  readonly heirlooms: readonly Inode[];
  version = 1;

  constructor(disk: SimDisk, pods: readonly string[]) {
    for (const pod of pods) {
      disk.append(`${localFolder(pod)}/precious`, pod);
      this.claims.put(`local-${pod}`, { local: { path: localFolder(pod) } });
    }
    disk.put('/srv/host', 'folder');
    disk.put(device, 'blockDevice');
    this.claims.put('disk', { local: { path: device } });
    this.claims.put('remote', { nfs: exported });
    this.claims.put('driven', { csi: { driver: csiDriver, volumeHandle: 'driven' } });
    const tops = [device, `${exported.server}:${exported.path}`, csiDriver].map((source) => {
      const top = new Inode({ kind: 'other', name: source }, 'folder', 0o755);
      top.add('precious', new Inode(top.fs, 'file', 0o644));
      this.sources.set(source, top);
      return top;
    });
    this.precious = [disk.put('/srv', 'folder'), ...tops];
    this.heirlooms = this.precious.flatMap((top) => [...top.below()].filter(({ kind }) => kind === 'file'));
  }

  /** What a whole volume of a kind must show; unset where it is the pod's own. */
  topOf(kind: VolumeKind, pod: string, disk: SimDisk): Inode | undefined {
    if (kind === 'host') return disk.table.walk(hostFolder(pod))?.inode;
    if (kind === 'local') return disk.table.walk(localFolder(pod))?.inode;
    if (kind === 'device') return this.sources.get(device);
    if (kind === 'driven' || kind === 'inline') return this.sources.get(csiDriver);
    return kind === 'remote' ? this.sources.get(`${exported.server}:${exported.path}`) : undefined;
  }

  /** The ConfigMap and the Secret as they are now: each value says of what, which and when it is. */
  objects(): readonly StandaloneObject[] {
    const data = (name: string): Readonly<Record<string, string>> =>
      Object.fromEntries(keysOf(this.version).map((key) => [key, `${name} ${key} ${this.version}`]));
    const where = { namespace: 'default', path: 'objects.yaml', line: 1 };
    const settings = { metadata: { name: 'settings', namespace: 'default' }, data: data('settings') };
    const encoded = Object.fromEntries(Object.entries(data('keys')).map(([key, text]) => [key, btoa(text)]));
    const keys = { metadata: { name: 'keys', namespace: 'default' }, data: encoded };
    return [
      { ...where, kind: 'ConfigMap', name: 'settings', object: settings },
      { ...where, kind: 'Secret', name: 'keys', object: keys },
    ];
  }
}

/** Keys come and go with versions. */
const keysOf = (version: number): string[] => ['fixed', 'other', version % 2 === 0 ? 'even' : 'odd'];

/** Why a file that the agent wrote is not as it must be; of one version, and of the newest when that is asked for. */
export function valueProblem(text: string, key: string, newest?: number): string | undefined {
  const { of, version } = /^(?<of>\w+ \w+) (?<version>\d+)$/.exec(text)?.groups ?? {};
  if (of === undefined || !of.endsWith(` ${key}`)) return `${key} says "${text}"`;
  return newest === undefined || Number(version) === newest ? undefined : `${key} is of version ${version}`;
}

/** Why what is in a volume's folder is no whole payload, or not the newest when that is asked for. */
export function contentsProblem(kind: VolumeKind, folder: Inode, newest?: number): string | undefined {
  const link = folder.children.get('..data');
  const data = folder.children.get(link?.target ?? '');
  if (link === undefined || data === undefined) return 'it has no ..data';
  const texts = new Map([...data.files()].map(([path, { content }]) => [path, content]));
  const version = Number(/ (?<version>\d+)$/.exec(texts.get('fixed') ?? '')?.groups?.['version']);
  const wanted = kind === 'self' ? ['name'] : keysOf(version);
  if (kind === 'all') wanted.push('name', 'deep/fixed');
  const found = [...texts.keys()].toSorted().join();
  if (wanted.toSorted().join() !== found) return `of version ${version} there are ${found}`;
  for (const [path, text] of texts) {
    // A Secret and a ConfigMap in one volume may be of different versions, as they are two objects.
    const wantedVersion = newest ?? (path === 'deep/fixed' ? undefined : version);
    const problem = path === 'name' ? nameProblem(text) : valueProblem(text, basename(path), wantedVersion);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const nameProblem = (text: string): string | undefined => (text === '' ? 'the name is missing' : undefined);

/** The name of a file that is not to be seen at the top of its volume. A death in the middle of a change may hide new ones. */
export function hiddenName(folder: Inode): string | undefined {
  const data = folder.children.get(folder.children.get('..data')?.target ?? '');
  const names = [...(data?.children.keys() ?? [])];
  return names.find((name) => folder.children.get(name)?.target !== `..data/${name}`);
}
