import { TubeletError } from '../base/errors.ts';
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeSpec } from '../gen/kubernetes/types.ts';
import type { ApiReader } from '../model/api-client.ts';
import type { ClaimedVolume } from '../volumes/index.ts';

/** A claim that is bound to the volume `pv-<name>`. */
export function aClaim(name: string, more: Partial<PersistentVolumeClaim> = {}): PersistentVolumeClaim {
  return {
    metadata: { name, namespace: 'default', uid: `uid-of-${name}` },
    spec: { volumeName: `pv-${name}`, accessModes: ['ReadWriteOnce'] },
    status: { phase: 'Bound' },
    ...more,
  };
}

/** The volume that `aClaim` of that name is bound to. */
export function aPersistentVolume(
  claim: string,
  spec: Partial<PersistentVolumeSpec> = {},
  annotations: Readonly<Record<string, string>> = {},
): PersistentVolume {
  return {
    metadata: { name: `pv-${claim}`, annotations },
    spec: {
      accessModes: ['ReadWriteOnce'],
      volumeMode: 'Filesystem',
      claimRef: { namespace: 'default', name: claim, uid: `uid-of-${claim}` },
      ...spec,
    },
  };
}

/** What a claim came to, for tests of those who mount it. */
export function aClaimedVolume(
  source: ClaimedVolume['source'],
  more: Partial<Omit<ClaimedVolume, 'source'>> = {},
): ClaimedVolume {
  return {
    name: 'pv-data',
    source,
    mode: 'Filesystem',
    readOnly: false,
    accessModes: ['ReadWriteOnce'],
    mountOptions: [],
    objects: { claim: aClaim('data'), volume: aPersistentVolume('data') },
    ...more,
  };
}

/** Claims and volumes of an API server, with the words of one; what is asked for is written down. */
export class MemoryClaims implements Pick<ApiReader, 'get'> {
  readonly objects = new Map<string, PersistentVolume | PersistentVolumeClaim>();
  readonly asked: string[] = [];
  /** Asked before every answer; what it throws is what the caller gets. */
  fault: () => void = () => {};

  put(claim: string, spec: Partial<PersistentVolumeSpec>, annotations: Readonly<Record<string, string>> = {}): void {
    this.objects.set(`persistentvolumeclaims/${claim}`, aClaim(claim));
    this.objects.set(`persistentvolumes/pv-${claim}`, aPersistentVolume(claim, spec, annotations));
  }

  async get<T>(...[{ plural }, { name }]: Parameters<ApiReader['get']>): Promise<T> {
    this.asked.push(`${plural}/${name}`);
    this.fault();
    const object = this.objects.get(`${plural}/${name}`);
    const words = `${plural} "${name}" not found`;
    if (object === undefined) throw new TubeletError('notFound', `GET ${plural}/${name}: ${words}`, { words });
    return object as T;
  }
}
