import type { PodSpec } from '../gen/kubernetes/types.ts';
import { podLimits } from '../model/pod-resources.ts';
import { Quantity } from '../model/quantity.ts';
import type { PodStorageUsage } from '../model/usage.ts';

const resource = 'ephemeral-storage';

/** The limits on local storage that a pod sets, in the order in which they are checked. */
export interface StorageLimits {
  /** By the names of emptyDirs on the node's disk. */
  readonly volumes: readonly (readonly [volume: string, limit: Quantity])[];
  /** Of all that the pod uses. */
  readonly pod?: Quantity;
  readonly containers: readonly (readonly [container: string, limit: Quantity])[];
}

/** The first limit that a pod exceeds: the signal for the metric, and the message for the event. */
export interface ExceededLimit {
  readonly signal: 'emptydirfs.limit' | 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit';
  readonly message: string;
  /** Used bytes, and the limit. */
  readonly used: number;
  readonly limit: string;
}

/** Undefined for a pod that sets none, as most do. */
export function storageLimits(spec: PodSpec): StorageLimits | undefined {
  const volumes = (spec.volumes ?? []).flatMap(({ name, emptyDir }) => {
    // An emptyDir in memory cannot grow beyond its file system, whose size is the limit.
    if (emptyDir?.sizeLimit === undefined || (emptyDir.medium ?? '') !== '') return [];
    const limit = Quantity.parse(emptyDir.sizeLimit);
    return limit.sign() > 0 ? [[name, limit] as const] : [];
  });
  const containers = spec.containers.flatMap(({ name, resources }) => {
    const limit = Quantity.parse(resources?.limits?.[resource] ?? '0');
    return limit.isZero() ? [] : [[name, limit] as const];
  });
  const pod = podLimits(spec, { overhead: true }).get(resource);
  if (volumes.length === 0 && containers.length === 0 && pod === undefined) return undefined;
  return { volumes, containers, ...(pod && { pod }) };
}

/** What has not been measured counts as zero. */
export function exceededLimit(limits: StorageLimits, usage: PodStorageUsage): ExceededLimit | undefined {
  const exceeds = (used: number | undefined, limit: Quantity): boolean =>
    Quantity.ofValue(BigInt(Math.ceil(used ?? 0))).compare(limit) > 0;
  const found = (
    signal: ExceededLimit['signal'],
    used: number | undefined,
    limit: Quantity,
    message: string,
  ): ExceededLimit => ({ signal, message, used: Math.ceil(used ?? 0), limit: limit.toString() });

  const volume = limits.volumes.find(([name, limit]) => exceeds(usage.volumes.get(name), limit));
  if (volume !== undefined) {
    const [name, limit] = volume;
    const message = `Usage of EmptyDir volume "${name}" exceeds the limit "${limit.toString()}". `;
    return found('emptydirfs.limit', usage.volumes.get(name), limit, message);
  }
  const { pod } = limits;
  if (pod !== undefined && exceeds(usage.ephemeral, pod)) {
    const message = `Pod ephemeral local storage usage exceeds the total limit of containers ${pod.toString()}. `;
    return found('ephemeralpodfs.limit', usage.ephemeral, pod, message);
  }
  const container = limits.containers.find(([name, limit]) => exceeds(usage.containers.get(name), limit));
  if (container === undefined) return undefined;
  const [name, limit] = container;
  const message = `Container ${name} exceeded its local ephemeral storage limit "${limit.toString()}". `;
  return found('ephemeralcontainerfs.limit', usage.containers.get(name), limit, message);
}
