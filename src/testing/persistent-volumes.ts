import { TubeletError } from '../base/errors.ts';
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeSpec } from '../gen/kubernetes/types.ts';
import type { ApiReader, ApiWriter } from '../model/api-client.ts';
import { applyStrategicMergePatch } from './apply-strategic-merge-patch.ts';
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
export class MemoryClaims implements Pick<ApiReader, 'get'>, Pick<ApiWriter, 'patch'> {
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
    if (object === undefined)
      throw new TubeletError('notFound', `GET ${plural}/${name}: ${words}`, { remoteMessage: words });
    return object as T;
  }

  /** A patch of a claim's status that was made from another version than the last is refused. */
  async patch<T>(...[{ plural }, { name }, patch, { subresource }]: Parameters<ApiWriter['patch']>): Promise<T> {
    this.asked.push(`patch ${plural}/${name}/${subresource ?? ''}`);
    this.fault();
    const key = `${plural}/${name}`;
    const before = this.objects.get(key) ?? {};
    const { resourceVersion } = (patch as PersistentVolumeClaim).metadata ?? {};
    const version = before.metadata?.resourceVersion;
    if (resourceVersion !== undefined && resourceVersion !== version) {
      const words = `Operation cannot be fulfilled on ${plural} "${name}": the object has been modified`;
      throw new TubeletError('conflict', `PATCH ${key}: ${words}`, { remoteMessage: words });
    }
    const after = applyStrategicMergePatch(before, patch, 'PersistentVolumeClaim');
    const changed = { ...after, metadata: { ...after.metadata, resourceVersion: String(Number(version ?? 0) + 1) } };
    this.objects.set(key, changed);
    return changed as T;
  }
}
