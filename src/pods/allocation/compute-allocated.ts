import type {
  Container,
  ContainerStatus,
  PodSpec,
  PodStatus,
  ResourceRequirements,
} from '../../gen/kubernetes/types.ts';
import { isRestartableInit } from '../../model/containers.ts';
import { Quantity } from '../../model/quantity.ts';
import { podConditions } from '../../model/reasons.ts';

/** Container → its allocated resources: regular containers and sidecars. */
export type Allocation = ReadonlyMap<string, ResourceRequirements>;

type Amounts = Readonly<Record<string, string>>;

/** What can be changed while a container runs. */
const resizable = ['cpu', 'memory'] as const;

export function allocationOf(spec: PodSpec): Allocation {
  const sidecars = (spec.initContainers ?? []).filter(isRestartableInit);
  return new Map([...sidecars, ...spec.containers].map(({ name, resources = {} }) => [name, resources]));
}

/**
 * The allocation of a pod that ran under an earlier process of the agent, or another agent: its status reports the
 * allocation where it differs from the spec.
 */
export function restoredAllocation(spec: PodSpec, status: PodStatus): Allocation {
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  const byName = new Map(statuses.map((one) => [one.name, one]));
  const allocation = allocationOf(spec);
  const isPending = (status.conditions ?? []).some(({ type }) => type === podConditions.resizePending);
  const differs = [...allocation].some(([name, { requests }]) => {
    const reported = byName.get(name)?.allocatedResources;
    return reported !== undefined && resizable.some((resource) => !isSame(reported[resource], requests?.[resource]));
  });
  if (!isPending && !differs) return allocation;
  return new Map([...allocation].map(([name, resources]) => [name, reportedIn(byName.get(name), resources)]));
}

function reportedIn(status: ContainerStatus | undefined, resources: ResourceRequirements): ResourceRequirements {
  const requests = status?.allocatedResources;
  if (requests === undefined) return resources;
  const limits = status?.resources?.limits;
  const wholeRequests = { ...without(resources.requests), ...only(requests) };
  const wholeLimits = { ...without(resources.limits), ...only(limits) };
  return {
    ...resources,
    ...(Object.keys(wholeRequests).length > 0 && { requests: wholeRequests }),
    ...(Object.keys(wholeLimits).length > 0 && { limits: wholeLimits }),
  };
}

const isResizable = (name: string): boolean => (resizable as readonly string[]).includes(name);
const only = (amounts: Amounts = {}): Amounts =>
  Object.fromEntries(Object.entries(amounts).filter(([name]) => isResizable(name)));
const without = (amounts: Amounts = {}): Amounts =>
  Object.fromEntries(Object.entries(amounts).filter(([name]) => !isResizable(name)));

/** Whether the spec asks for other resources than those allocated. */
export function needsResize(spec: PodSpec, allocation: Allocation): boolean {
  return [...allocationOf(spec)].some(([name, { requests, limits }]) => {
    const allocated = allocation.get(name);
    if (allocated === undefined) return false;
    return resizable.some(
      (resource) =>
        !isSame(requests?.[resource], allocated.requests?.[resource]) ||
        !isSame(limits?.[resource], allocated.limits?.[resource]),
    );
  });
}

/** Absent is zero. */
function isSame(left: string | undefined, right: string | undefined): boolean {
  return left === right || Quantity.parse(left ?? '0').compare(Quantity.parse(right ?? '0')) === 0;
}

/** The spec with the allocated resources. */
export function withAllocation(spec: PodSpec, allocation: Allocation): PodSpec {
  const withAllocated = (container: Container): Container => {
    const resources = allocation.get(container.name);
    return resources === undefined ? container : { ...container, resources };
  };
  return {
    ...spec,
    containers: spec.containers.map(withAllocated),
    ...(spec.initContainers && {
      initContainers: spec.initContainers.map((one) => (isRestartableInit(one) ? withAllocated(one) : one)),
    }),
  };
}
