import { TubeletError } from '../../base/errors.ts';
import type { NodePublishVolumeRequest, NodeStageVolumeRequest, VolumeCapability } from '../../gen/csi/v1.ts';
import type { ClaimedVolume } from '../claims/claimed-volume.ts';
import type { VolumeRequest } from '../ports.ts';
import type { PublishContext } from './attach-wait.ts';
import type { SecretReference } from './driver-secrets.ts';
import type { VolumeLifecycle } from './volume-data.ts';
import { inlineHandle, type DriverVolume } from './volume-names.ts';

/** A pod's volume of a driver as folders and files, inline or behind a claim. */
export interface CsiVolumeSpec extends DriverVolume {
  /** Of its folder: the PersistentVolume's, or the one it has in the pod. */
  readonly name: string;
  readonly lifecycle: VolumeLifecycle;
  readonly readOnly: boolean;
  readonly fsType: string | undefined;
  /** Undefined for an inline volume. */
  readonly accessModes: readonly string[] | undefined;
  readonly mountOptions: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
  readonly stageSecret: SecretReference | undefined;
  readonly publishSecret: SecretReference | undefined;
}

/** Throws what the pod's events report. */
export function csiVolumeSpec(request: VolumeRequest): CsiVolumeSpec {
  return request.claimed === undefined ? inlineVolumeSpec(request) : claimedVolumeSpec(request, request.claimed);
}

function inlineVolumeSpec({ pod, volume }: VolumeRequest): CsiVolumeSpec {
  if (volume.csi === undefined) throw new TubeletError('internal', `volume ${volume.name} is none of a CSI driver`);
  const { driver, fsType, readOnly = false, volumeAttributes = {}, nodePublishSecretRef } = volume.csi;
  return {
    driver,
    handle: inlineHandle(pod.uid, volume.name),
    name: volume.name,
    lifecycle: 'Ephemeral',
    readOnly,
    fsType,
    accessModes: undefined,
    mountOptions: [],
    attributes: volumeAttributes,
    stageSecret: undefined,
    publishSecret: nodePublishSecretRef && { namespace: pod.namespace, name: nodePublishSecretRef.name ?? '' },
  };
}

function claimedVolumeSpec({ pod }: VolumeRequest, claimed: ClaimedVolume): CsiVolumeSpec {
  const { name, source, readOnly, accessModes, mountOptions } = claimed;
  if (source.kind !== 'csi') throw new TubeletError('internal', `volume ${name} is none of a CSI driver`);
  // Both volumes would have the same folder, and one of them would show the other's files.
  if ((pod.spec.volumes ?? []).some((other) => other.csi !== undefined && other.name === name)) {
    throw new TubeletError('conflict', `the pod has another csi volume that is called ${name} like this one's PV`);
  }
  const { driver, volumeHandle, fsType, volumeAttributes = {}, nodeStageSecretRef, nodePublishSecretRef } = source.csi;
  if (volumeHandle === '') throw new TubeletError('invalid', `PersistentVolume ${name} has an empty volumeHandle`);
  return {
    driver,
    handle: volumeHandle,
    name,
    lifecycle: 'Persistent',
    // The pod's readOnly counts; the source's own readOnly is for the attacher.
    readOnly,
    fsType,
    accessModes,
    mountOptions,
    attributes: volumeAttributes,
    stageSecret: nodeStageSecretRef,
    publishSecret: nodePublishSecretRef,
  };
}

interface StageFacts {
  readonly target: string;
  readonly context: PublishContext;
  readonly capability: VolumeCapability;
  readonly secrets: Readonly<Record<string, string>>;
}

export function stageRequest({ handle, attributes }: CsiVolumeSpec, facts: StageFacts): NodeStageVolumeRequest {
  return {
    volumeId: handle,
    publishContext: { ...facts.context },
    stagingTargetPath: facts.target,
    volumeCapability: facts.capability,
    secrets: { ...facts.secrets },
    volumeContext: { ...attributes },
  };
}

export interface PublishFacts extends StageFacts {
  /** Undefined where the volume is not staged. */
  readonly staging: string | undefined;
  /** What the driver wants to know of the pod. */
  readonly podContext: Readonly<Record<string, string>>;
}

export function publishRequest(
  { handle, attributes, readOnly }: CsiVolumeSpec,
  facts: PublishFacts,
): NodePublishVolumeRequest {
  return {
    volumeId: handle,
    publishContext: { ...facts.context },
    stagingTargetPath: facts.staging ?? '',
    targetPath: facts.target,
    volumeCapability: facts.capability,
    readonly: readOnly,
    secrets: { ...facts.secrets },
    volumeContext: { ...attributes, ...facts.podContext },
  };
}
