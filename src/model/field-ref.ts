import { ownValue } from '../base/own-value.ts';
import type { Container, PodSpec, ResourceFieldSelector } from '../gen/kubernetes/types.ts';
import { findContainer } from './containers.ts';
import type { DesiredPod } from './desired-pod.ts';
import { goQuote } from './go-text.ts';
import { sortedPodIps } from './pod-ips.ts';
import { isHugePages } from './pod-resource-totals.ts';
import { isPodLevelResource } from './pod-resources.ts';
import { Quantity } from './quantity.ts';
import type { NodeFacts } from './runtime-settings.ts';

/** What a pod may learn about itself, in variables or in a downward volume. */
interface PodFacts {
  readonly pod: Pick<DesiredPod, 'name' | 'namespace' | 'uid' | 'metadata' | 'spec'>;
  readonly podIps: readonly string[];
  readonly hostIps: readonly string[];
  readonly nodeName: string;
}

export type FieldValue = { readonly value: string } | { readonly problem: string };

const subscript = /^metadata\.(annotations|labels)\['(.*)'\]$/s;

export function podFieldValue(facts: PodFacts, fieldPath: string): FieldValue {
  const { pod, podIps, hostIps } = facts;
  const [, map, key] = subscript.exec(fieldPath) ?? [];
  if (map !== undefined && key !== undefined) {
    const entries = map === 'annotations' ? pod.metadata.annotations : pod.metadata.labels;
    return { value: ownValue(entries, key) ?? '' };
  }
  switch (fieldPath) {
    case 'metadata.name':
      return { value: pod.name };
    case 'metadata.namespace':
      return { value: pod.namespace };
    case 'metadata.uid':
      return { value: pod.uid };
    case 'metadata.annotations':
      return { value: printMap(pod.metadata.annotations) };
    case 'metadata.labels':
      return { value: printMap(pod.metadata.labels) };
    case 'spec.nodeName':
      return { value: pod.spec.nodeName ?? facts.nodeName };
    case 'spec.serviceAccountName':
      return { value: pod.spec.serviceAccountName ?? '' };
    case 'status.hostIP':
      return { value: hostIps[0] ?? '' };
    case 'status.hostIPs':
      return { value: hostIps.join(',') };
    case 'status.podIP':
      return { value: sortedPodIps(podIps, hostIps)[0] ?? '' };
    case 'status.podIPs':
      return { value: sortedPodIps(podIps, hostIps).join(',') };
    default:
      return { problem: `unsupported fieldPath: ${fieldPath}` };
  }
}

/** One line for each entry, sorted by key. */
function printMap(entries: Readonly<Record<string, string>> = {}): string {
  return Object.keys(entries)
    .sort()
    .map((key) => `${key}=${goQuote(entries[key] ?? '')}`)
    .join('\n');
}

const plainResources: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];

/** An amount of a container, in units of the divisor, rounded up. */
export function containerResourceValue(
  pod: Pick<DesiredPod, 'spec'>,
  container: Container,
  selector: ResourceFieldSelector,
  node: Pick<NodeFacts, 'allocatable'>,
): FieldValue {
  const named = selector.containerName ? findContainer(pod.spec, selector.containerName)?.container : container;
  if (named === undefined) return { problem: `container ${selector.containerName ?? ''} not found` };
  const [kind, resource = ''] = splitOnce(selector.resource);
  if ((kind !== 'limits' && kind !== 'requests') || !(plainResources.includes(resource) || isHugePages(resource))) {
    return { problem: `unsupported container resource : ${selector.resource}` };
  }
  const amount =
    kind === 'requests'
      ? Quantity.parse(ownValue(named.resources?.requests, resource) ?? '0')
      : limitOrRoom(pod, named, resource, named === container || isRegular(pod.spec, named), node);
  const divisor = Quantity.parse(selector.divisor ?? '1');
  return { value: String(divideUp(amount, divisor.isZero() ? Quantity.ofValue(1n) : divisor, resource === 'cpu')) };
}

function isRegular(spec: PodSpec, container: Container): boolean {
  return spec.containers.some(({ name }) => name === container.name);
}

/**
 * Without a limit a container may use what its pod may, or else what is allocatable on this node. Only regular containers
 * and the container itself get this default; an init container that another one names has the limits of its spec.
 */
function limitOrRoom(
  pod: Pick<DesiredPod, 'spec'>,
  container: Container,
  resource: string,
  filledIn: boolean,
  node: Pick<NodeFacts, 'allocatable'>,
): Quantity {
  const own = Quantity.parse(ownValue(container.resources?.limits, resource) ?? '0');
  if (!own.isZero() || !filledIn || !plainResources.includes(resource)) return own;
  const room = Quantity.parse(ownValue(node.allocatable, resource) ?? '0');
  const ofPod = Quantity.parse((isPodLevelResource(resource) && ownValue(pod.spec.resources?.limits, resource)) || '0');
  return ofPod.isZero() ? room : ofPod;
}

function divideUp(amount: Quantity, divisor: Quantity, inMilli: boolean): bigint {
  const top = inMilli ? amount.milliValue() : amount.value();
  const bottom = inMilli ? divisor.milliValue() : divisor.value();
  return (top + bottom - 1n) / bottom;
}

function splitOnce(text: string): [string, string?] {
  const dot = text.indexOf('.');
  return dot < 0 ? [text] : [text.slice(0, dot), text.slice(dot + 1)];
}
