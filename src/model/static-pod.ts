import { createHash } from 'node:crypto';
import type { ObjectMeta, Pod, PodSpec, Toleration, Volume } from '../gen/kubernetes/types.ts';
import { configAnnotations, withConfigSource } from './annotations.ts';
import { namedObjects } from './object-references.ts';

export interface StaticPodOrigin {
  readonly nodeName: string;
  readonly source: 'file' | 'http';
  /** The path of the file or the URL. */
  readonly origin: string;
  /** When the pod was first seen, in RFC 3339. */
  readonly seen: string;
}

/** Tolerates all NoExecute taints: static pods must not be evicted by taints. */
const tolerateEviction: Toleration = { operator: 'Exists', effect: 'NoExecute' };

/** What the priority admission computes for the two classes that every cluster has. */
const systemPriorities: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
]);

/**
 * Makes a defaulted manifest a pod of this node. Its uid follows from content, node and origin, so that an unchanged
 * manifest is the same pod after a restart of the agent and a changed one is another pod.
 */
export function toStaticPod(pod: Pod, origin: StaticPodOrigin): Pod {
  const { spec = { containers: [] } } = pod;
  const metadata = withoutConfigAnnotations(pod.metadata ?? {});
  const uid = metadata.uid || contentUid(metadata, spec, origin);
  const stamped = withConfigSource(metadata, origin.source, origin.seen);
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      ...stamped,
      uid,
      // A manifest without a name has to stay one without a name, for validation to say so.
      name: metadata.name === undefined || metadata.name === '' ? '' : staticPodName(metadata.name, origin.nodeName),
      namespace: metadata.namespace || 'default',
      annotations: { ...stamped.annotations, [configAnnotations.hash]: uid },
    },
    spec: {
      ...spec,
      nodeName: origin.nodeName,
      ...systemPriority(spec),
      ...(origin.source === 'file' && { tolerations: addToleration(spec.tolerations ?? [], tolerateEviction) }),
    },
    status: { phase: 'Pending' },
  };
}

/** Unique among nodes, since the mirror pods of all nodes share a namespace. */
export function staticPodName(name: string, nodeName: string): string {
  return `${name}-${nodeName.toLowerCase()}`;
}

/**
 * Priorities of the system classes are the same everywhere, so a node can know them without asking. Others are left to
 * the admission of the mirror pod: a number that it would compute differently makes it refuse the mirror.
 */
function systemPriority(spec: PodSpec): Pick<PodSpec, 'priority' | 'preemptionPolicy'> {
  const priority = systemPriorities.get(spec.priorityClassName ?? '');
  if (priority === undefined) return {};
  return {
    priority: spec.priority ?? priority,
    preemptionPolicy: spec.preemptionPolicy ?? 'PreemptLowerPriority',
  };
}

/** A manifest copied from a running pod carries another agent's marks; with the mirror mark it would pass for a mirror. */
function withoutConfigAnnotations(metadata: ObjectMeta): ObjectMeta {
  if (metadata.annotations === undefined) return metadata;
  const own: ReadonlySet<string> = new Set(Object.values(configAnnotations));
  const annotations = Object.fromEntries(Object.entries(metadata.annotations).filter(([key]) => !own.has(key)));
  return { ...metadata, annotations };
}

function contentUid(metadata: ObjectMeta, spec: PodSpec, { nodeName, source, origin }: StaticPodOrigin): string {
  const place = source === 'file' ? `host:${nodeName}file:${origin}` : `url:${origin}`;
  const content = canonicalJson({ metadata, spec });
  return createHash('md5').update(content).update(place).digest('hex');
}

/** JSON with the keys of every object in order and without absent values: equal data give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}

/** One toleration per taint: ours takes the place of one that differs only in how long it lasts. */
function addToleration(tolerations: readonly Toleration[], added: Toleration): readonly Toleration[] {
  const matches = (one: Toleration): boolean =>
    !one.key && !one.value && one.operator === added.operator && one.effect === added.effect;
  if (!tolerations.some(matches)) return [...tolerations, added];
  return tolerations.map((one) => (matches(one) ? added : one));
}

/** What a static pod may rely on. */
export interface StaticPodRules {
  /** Feature gate PreventStaticPodAPIReferences. */
  readonly preventApiReferences: boolean;
  /** The node stands alone and gives its pods ConfigMaps and Secrets of its own. */
  readonly allowFolderObjects?: boolean;
}

/**
 * Why a pod may not run as a static pod, or undefined. Two kinds of reference cannot work at all; the gate
 * PreventStaticPodAPIReferences decides about the others.
 */
export function staticPodRefusal(pod: Pod, rules: StaticPodRules): string | undefined {
  const { preventApiReferences, allowFolderObjects = false } = rules;
  const reference = preventApiReferences ? apiReference(pod, allowFolderObjects) : unsupportedReference(pod.spec);
  return reference === undefined ? undefined : `static pods may not reference ${reference}`;
}

function unsupportedReference(spec: PodSpec | undefined): string | undefined {
  const sources = (spec?.volumes ?? []).flatMap((volume) => volume.projected?.sources ?? []);
  if (sources.some((source) => source.clusterTrustBundle !== undefined)) return 'clustertrustbundles';
  return (spec?.resourceClaims ?? []).length > 0 ? 'resourceclaims' : undefined;
}

/**
 * The API objects that a pod needs, by the word a refusal names; undefined for a pod that the node can run alone.
 * A static pod must not depend on them: the agent reads it before it has an API server, and no authoriser checks them.
 * With `folderObjects` the node itself has what the agent reads; what storage drivers read it has not.
 */
export function apiReference(pod: Pod, folderObjects = false): string | undefined {
  const spec = pod.spec ?? { containers: [] };
  if (spec.serviceAccountName) return 'serviceaccounts';
  const needed = namedObjects(spec).filter(({ reader }) => !folderObjects || reader === 'driver');
  if (needed.some(({ kind }) => kind === 'Secret')) return 'secrets';
  if (needed.some(({ kind }) => kind === 'ConfigMap')) return 'configmaps';
  if (spec.resourceClaims !== undefined && spec.resourceClaims.length > 0) return 'resourceclaims';
  for (const volume of spec.volumes ?? []) {
    const reference = volumeReference(volume, folderObjects);
    if (reference !== undefined) return reference;
  }
  return undefined;
}

function volumeReference(volume: Volume, folderObjects: boolean): string | undefined {
  if (volume.configMap && !folderObjects) return 'configmaps (via configmap volumes)';
  if (volume.secret && !folderObjects) return 'secrets (via secret volumes)';
  if (volume.csi) return 'csidrivers (via CSI volumes)';
  if (volume.glusterfs) return 'endpoints (via glusterFS volumes)';
  if (volume.persistentVolumeClaim) return 'persistentvolumeclaims';
  if (volume.ephemeral) return 'persistentvolumeclaims (via ephemeral volumes)';
  if (volume.azureFile) return 'secrets (via azureFile volumes)';
  for (const source of volume.projected?.sources ?? []) {
    if (source.configMap && !folderObjects) return 'configmaps (via projected volumes)';
    if (source.secret && !folderObjects) return 'secrets (via projected volumes)';
    if (source.serviceAccountToken) return 'serviceaccounts (via projected volumes)';
    if (source.clusterTrustBundle) return 'clustertrustbundles';
    if (source.podCertificate) return 'podcertificates';
  }
  return undefined;
}
