import type { DownwardAPIVolumeFile, Volume, VolumeProjection } from '../gen/kubernetes/types.ts';
import { defaultPullPolicy } from './container-defaults.ts';

/** 0644 */
const defaultFileMode = 420;

/** A volume without any source is a scratch folder; every source gets the values its own fields fall back to. */
export function defaultVolume(volume: Volume): Volume {
  const withSource = Object.keys(volume).some((key) => key !== 'name') ? volume : { ...volume, emptyDir: {} };
  return { ...withSource, ...defaultObjectSources(volume), ...defaultDiskSources(volume) };
}

function defaultObjectSources(volume: Volume): Partial<Volume> {
  const { secret, configMap, downwardAPI, projected, hostPath, ephemeral, image } = volume;
  const template = ephemeral?.volumeClaimTemplate;
  return {
    ...(secret !== undefined && { secret: { ...secret, defaultMode: secret.defaultMode ?? defaultFileMode } }),
    ...(configMap !== undefined && {
      configMap: { ...configMap, defaultMode: configMap.defaultMode ?? defaultFileMode },
    }),
    ...(downwardAPI !== undefined && {
      downwardAPI: {
        ...downwardAPI,
        defaultMode: downwardAPI.defaultMode ?? defaultFileMode,
        ...(downwardAPI.items !== undefined && { items: downwardAPI.items.map(defaultDownwardFile) }),
      },
    }),
    ...(projected !== undefined && {
      projected: {
        ...projected,
        defaultMode: projected.defaultMode ?? defaultFileMode,
        ...(projected.sources !== undefined && { sources: projected.sources.map(defaultProjection) }),
      },
    }),
    ...(hostPath !== undefined && { hostPath: { ...hostPath, type: hostPath.type ?? '' } }),
    ...(template !== undefined && {
      ephemeral: {
        ...ephemeral,
        volumeClaimTemplate: {
          ...template,
          spec: { ...template.spec, volumeMode: template.spec.volumeMode ?? 'Filesystem' },
        },
      },
    }),
    ...(image !== undefined && {
      image: { ...image, pullPolicy: image.pullPolicy || defaultPullPolicy(image.reference ?? '') },
    }),
  };
}

function defaultDiskSources(volume: Volume): Partial<Volume> {
  const { iscsi, rbd, azureDisk, scaleIO } = volume;
  return {
    ...(iscsi !== undefined && { iscsi: { ...iscsi, iscsiInterface: iscsi.iscsiInterface || 'default' } }),
    ...(rbd !== undefined && {
      rbd: {
        ...rbd,
        pool: rbd.pool || 'rbd',
        user: rbd.user || 'admin',
        keyring: rbd.keyring || '/etc/ceph/keyring',
      },
    }),
    ...(azureDisk !== undefined && {
      azureDisk: {
        ...azureDisk,
        cachingMode: azureDisk.cachingMode ?? 'ReadWrite',
        fsType: azureDisk.fsType ?? 'ext4',
        readOnly: azureDisk.readOnly ?? false,
        kind: azureDisk.kind ?? 'Shared',
      },
    }),
    ...(scaleIO !== undefined && {
      scaleIO: {
        ...scaleIO,
        storageMode: scaleIO.storageMode || 'ThinProvisioned',
        fsType: scaleIO.fsType || 'xfs',
      },
    }),
  };
}

function defaultDownwardFile(file: DownwardAPIVolumeFile): DownwardAPIVolumeFile {
  if (file.fieldRef === undefined) return file;
  return { ...file, fieldRef: { ...file.fieldRef, apiVersion: file.fieldRef.apiVersion || 'v1' } };
}

function defaultProjection(source: VolumeProjection): VolumeProjection {
  const { downwardAPI, serviceAccountToken } = source;
  return {
    ...source,
    ...(downwardAPI?.items !== undefined && {
      downwardAPI: { ...downwardAPI, items: downwardAPI.items.map(defaultDownwardFile) },
    }),
    ...(serviceAccountToken !== undefined && {
      serviceAccountToken: {
        ...serviceAccountToken,
        expirationSeconds: serviceAccountToken.expirationSeconds ?? 3600,
      },
    }),
  };
}
