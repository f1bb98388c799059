import type { PersistentVolume, PersistentVolumeClaim, PodSpec, Volume } from '../../gen/kubernetes/types.ts';
import { allContainers } from '../../model/containers.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { matchesNodeSelector } from '../../model/node-selector.ts';
import { dnsSubdomain } from '../../model/validation/names.ts';
import { sourceOf, type ClaimedVolume } from './claimed-volume.ts';

const protectionFinalizer = 'kubernetes.io/pvc-protection';
const mountOptionsAnnotation = 'volume.beta.kubernetes.io/mount-options';
const gidAnnotation = 'pv.beta.kubernetes.io/gid';

/** Why the pod cannot have the volume, as its event reports it. */
interface ClaimProblem {
  readonly problem: string;
}

type Claimant = Pick<DesiredPod, 'uid' | 'name' | 'namespace'>;

/** The claim that a volume of a pod refers to. */
interface ClaimReference {
  readonly name: string;
  readonly readOnly: boolean;
  /** An ephemeral volume's claim, which must be owned by this pod. */
  readonly isEphemeral: boolean;
}

/** Undefined for a volume that is no claim. The claim of an ephemeral volume is named after pod and volume. */
export function claimReference(pod: Pick<DesiredPod, 'name'>, volume: Volume): ClaimReference | undefined {
  const { name, persistentVolumeClaim, ephemeral } = volume;
  if (persistentVolumeClaim !== undefined) {
    const { claimName, readOnly = false } = persistentVolumeClaim;
    return { name: claimName, readOnly, isEphemeral: false };
  }
  return ephemeral === undefined ? undefined : { name: `${pod.name}-${name}`, readOnly: false, isEphemeral: true };
}

/** Checks whether the claim may be used; returns the name of the PersistentVolume that it is bound to. */
export function checkClaim(claim: PersistentVolumeClaim): { readonly volumeName: string } | ClaimProblem {
  const { metadata, spec, status } = claim;
  // A protected claim outlives its pods' containers, and running pods must resolve it after a restart of the agent.
  const isGoing = metadata?.deletionTimestamp !== undefined;
  if (isGoing && metadata?.finalizers?.includes(protectionFinalizer) !== true)
    return { problem: 'PVC is being deleted' };
  if (status?.phase !== 'Bound') return { problem: 'PVC is not bound' };
  const volumeName = spec?.volumeName ?? '';
  if (volumeName === '') return { problem: 'PVC has empty pvc.Spec.VolumeName' };
  // The name becomes that of a folder, so it is validated here.
  const fault = dnsSubdomain(volumeName);
  return fault === undefined ? { volumeName } : { problem: `PVC has an invalid pvc.Spec.VolumeName: ${fault}` };
}

/** Another owner may have a claim of that name; an ephemeral claim must be owned by this pod. */
export function checkOwner(claim: PersistentVolumeClaim, name: string, pod: Claimant): ClaimProblem | undefined {
  const controller = claim.metadata?.ownerReferences?.find((owner) => owner.controller === true);
  if (controller?.uid === pod.uid) return undefined;
  const { namespace } = pod;
  return {
    problem: `PVC ${namespace}/${name} was not created for pod ${namespace}/${pod.name} (pod is not owner)`,
  };
}

/** Both must name each other: a volume may have been given to a claim of the same name before. */
export function checkBinding(
  name: string,
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): ClaimProblem | undefined {
  const claimRef = volume.spec?.claimRef;
  if (claimRef === undefined) {
    return {
      problem: `found PV object ${name} but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`,
    };
  }
  const [pointsTo, expected] = [claimRef.uid ?? '', claim.metadata?.uid ?? ''];
  if (pointsTo === expected && expected !== '') return undefined;
  return {
    problem: `found PV object ${name} but its pv.Spec.ClaimRef.UID ${pointsTo} does not point to claim.UID ${expected}`,
  };
}

/** A pod must use a Block volume as a device, and a Filesystem volume as a mount. */
export function checkMode(spec: PodSpec, volumeName: string, mode: ClaimedVolume['mode']): ClaimProblem | undefined {
  const containers = allContainers(spec).map(({ container }) => container);
  const isNamedIn = (list: 'volumeMounts' | 'volumeDevices'): boolean =>
    containers.some((container) => (container[list] ?? []).some(({ name }) => name === volumeName));
  const wrong = mode === 'Block' ? ('volumeMounts' as const) : ('volumeDevices' as const);
  if (!isNamedIn(wrong)) return undefined;
  return { problem: `volume ${volumeName} has volumeMode ${mode}, but is specified in ${wrong}` };
}

/** Whether the volume may be used on a node with these labels. Does not match fields of the node, as upstream. */
export function checkNodeAffinity(
  volume: PersistentVolume,
  labels: Readonly<Record<string, string>>,
): ClaimProblem | undefined {
  const required = volume.spec?.nodeAffinity?.required;
  if (required === undefined || matchesNodeSelector(required, { name: '', labels })) return undefined;
  return { problem: 'no matching NodeSelectorTerms' };
}

/** What a pod gets of a claim that it may use. */
export function claimedVolume(
  name: string,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
  reference: ClaimReference,
): ClaimedVolume {
  const { spec = {}, metadata } = volume;
  const annotations = metadata?.annotations ?? {};
  const gid = annotations[gidAnnotation];
  return {
    name,
    source: sourceOf(spec),
    mode: spec.volumeMode === 'Block' ? 'Block' : 'Filesystem',
    readOnly: reference.readOnly,
    accessModes: spec.accessModes ?? [],
    mountOptions: (annotations[mountOptionsAnnotation]?.split(',') ?? spec.mountOptions ?? []).filter((o) => o !== ''),
    ...(gid !== undefined && /^\d{1,10}$/.test(gid) && { gid: Number(gid) }),
    objects: { claim, volume },
  };
}
