import type {
  CSIPersistentVolumeSource,
  HostPathVolumeSource,
  LocalVolumeSource,
  NFSVolumeSource,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
} from '../../gen/kubernetes/types.ts';

/** What is behind a PersistentVolume. `other` is a kind that only a CSI driver can serve. */
export type PersistentSource =
  | { readonly kind: 'hostPath'; readonly hostPath: HostPathVolumeSource }
  | { readonly kind: 'local'; readonly local: LocalVolumeSource }
  | { readonly kind: 'nfs'; readonly nfs: NFSVolumeSource }
  | { readonly kind: 'csi'; readonly csi: CSIPersistentVolumeSource }
  | { readonly kind: 'other'; readonly field: string };

/** A pod's claim, resolved: the PersistentVolume that is bound to it, and how this pod uses it. */
export interface ClaimedVolume {
  /** Of the PersistentVolume. The volume's folder in the pod's directory has this name, not the one in the pod. */
  readonly name: string;
  readonly source: PersistentSource;
  readonly mode: 'Filesystem' | 'Block';
  /** Of the pod's volume. Plugins read the PersistentVolume's own readOnly themselves. */
  readonly readOnly: boolean;
  readonly accessModes: readonly string[];
  readonly mountOptions: readonly string[];
  /** A group that every container of the pod gets, so that it may use the volume. */
  readonly gid?: number;
  /** The objects as they were read, for CSI, which needs more of them. */
  readonly objects: { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume };
}

/** Fields of a PersistentVolume's spec that do not say what is behind it. */
const plainFields: ReadonlySet<string> = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]);

export function sourceOf(spec: PersistentVolumeSpec): PersistentSource {
  const { hostPath, local, nfs, csi } = spec;
  if (hostPath !== undefined) return { kind: 'hostPath', hostPath };
  if (local !== undefined) return { kind: 'local', local };
  if (nfs !== undefined) return { kind: 'nfs', nfs };
  if (csi !== undefined) return { kind: 'csi', csi };
  return { kind: 'other', field: Object.keys(spec).find((field) => !plainFields.has(field)) ?? 'none' };
}
