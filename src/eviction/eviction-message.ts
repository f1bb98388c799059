import { containerRequest } from '../model/pod-resources.ts';
import { allContainers } from '../model/containers.ts';
import type { Threshold } from '../model/eviction-thresholds.ts';
import { Quantity } from '../model/quantity.ts';
import type { ContainerStats } from '../model/stats-summary.ts';
import { thresholdQuantity } from './evaluate-round.ts';
import type { Observations } from './observations.ts';
import type { Candidate } from './rank-pods.ts';
import { resourceOf, type StarvedResource } from './signals.ts';

interface EvictionText {
  readonly message: string;
  /** Of the event. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** Why a pod is evicted: what is short, and which containers use more of it than they asked for. */
export function evictionText(
  candidate: Candidate,
  resource: StarvedResource,
  starved: readonly Threshold[],
  observations: Observations,
): EvictionText {
  const { stats } = candidate;
  const parts = [`The node was low on resource: ${resource}. `, shortage(resource, starved, observations)];
  if (stats === undefined) return { message: parts.join(''), annotations: {} };
  const pod = podConsumption(candidate, resource);
  const containers = offenders(candidate, resource);
  const described = [...(pod === undefined ? [] : [pod]), ...containers];
  return {
    message: [...parts, ...described.map((one) => consumption(one, resource))].join(''),
    annotations: {
      ...(pod && { offending_pod: pod.name, offending_pod_usage: pod.usage.toString() }),
      offending_containers: containers.map(({ name }) => name).join(','),
      offending_containers_usage: containers.map(({ usage }) => usage.toString()).join(','),
      starved_resource: resource,
    },
  };
}

function shortage(resource: StarvedResource, starved: readonly Threshold[], observations: Observations): string {
  for (const threshold of starved) {
    const observed = resourceOf(threshold.signal) === resource ? observations.get(threshold.signal) : undefined;
    if (observed === undefined) continue;
    const quantity = thresholdQuantity(threshold, observed.capacity).toString();
    return `Threshold quantity: ${quantity}, available: ${observed.available.toString()}. `;
  }
  return '';
}

interface Consumption {
  readonly what: 'Pod' | 'Container';
  readonly name: string;
  readonly usage: Quantity;
  readonly request: Quantity;
}

function consumption({ what, name, usage, request }: Consumption, resource: string): string {
  const amounts = `was using ${usage.toString()}, request is ${request.toString()}`;
  return `${what} ${name} ${amounts}, has larger consumption of ${resource}. `;
}

/** Named whenever the pod as a whole has a request, whether it keeps to it or not. */
function podConsumption({ pod, stats }: Candidate, resource: StarvedResource): Consumption | undefined {
  const request = pod.spec.resources?.requests?.['memory'];
  const usage = stats?.memory?.workingSetBytes;
  if (resource !== 'memory' || request === undefined || usage === undefined) return undefined;
  return { what: 'Pod', name: pod.name, usage: bytes(usage), request: Quantity.parse(request) };
}

function offenders({ pod, stats }: Candidate, resource: StarvedResource): readonly Consumption[] {
  const containers = new Map(
    allContainers(pod.spec)
      .filter(({ kind }) => kind !== 'ephemeral')
      .map(({ container }) => [container.name, container] as const),
  );
  return (stats?.containers ?? []).flatMap((one) => {
    const container = containers.get(one.name);
    const usage = container === undefined ? undefined : usageOf(one, resource);
    if (container === undefined || usage === undefined) return [];
    const request = containerRequest(container, resource) ?? Quantity.zero;
    return usage.compare(request) > 0 ? [{ what: 'Container' as const, name: one.name, usage, request }] : [];
  });
}

/** Inodes and processes have no requests. */
function usageOf({ memory, rootfs, logs }: ContainerStats, resource: StarvedResource): Quantity | undefined {
  if (resource === 'memory') return memory?.workingSetBytes === undefined ? undefined : bytes(memory.workingSetBytes);
  if (resource !== 'ephemeral-storage') return undefined;
  if (rootfs?.usedBytes === undefined || logs?.usedBytes === undefined) return undefined;
  return bytes(rootfs.usedBytes + logs.usedBytes);
}

const bytes = (figure: number): Quantity => Quantity.ofValue(BigInt(Math.trunc(figure)), 'binarySI');
