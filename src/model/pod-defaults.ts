import type { Container, EphemeralContainer, Pod, PodSpec, ResourceRequirements } from '../gen/kubernetes/types.ts';
import { defaultContainer, defaultEphemeralContainer } from './container-defaults.ts';
import { aggregateResources, isHugePages, isOvercommitable, roundUpToMilli } from './pod-resource-totals.ts';
import { isPodLevelResource } from './pod-resources.ts';
import { defaultVolume } from './volume-defaults.ts';

/**
 * A pod with the defaults of the v1 API, as the API server would have stored it. Idempotent; the input is not changed.
 */
export function defaultPod(pod: Pod): Pod {
  return { ...pod, metadata: pod.metadata ?? {}, spec: defaultPodSpec(pod.spec ?? { containers: [] }) };
}

export function defaultPodSpec(spec: PodSpec): PodSpec {
  const hostNetwork = spec.hostNetwork === true;
  const containers = spec.containers.map((container) => defaultPodContainer(container, hostNetwork));
  const initContainers = spec.initContainers?.map((container) => defaultPodContainer(container, hostNetwork));
  const filled: PodSpec = {
    ...spec,
    ...defaultServiceAccount(spec),
    containers,
    ...(initContainers !== undefined && { initContainers }),
    ...(spec.ephemeralContainers !== undefined && {
      ephemeralContainers: spec.ephemeralContainers.map((container): EphemeralContainer =>
        defaultEphemeralContainer(container),
      ),
    }),
    ...(spec.volumes !== undefined && { volumes: spec.volumes.map(defaultVolume) }),
    restartPolicy: spec.restartPolicy || 'Always',
    dnsPolicy: spec.dnsPolicy || 'ClusterFirst',
    schedulerName: spec.schedulerName || 'default-scheduler',
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? 30,
    securityContext: spec.securityContext ?? {},
    enableServiceLinks: spec.enableServiceLinks ?? true,
  };
  return filled.resources === undefined
    ? filled
    : { ...filled, resources: defaultPodResources(filled, filled.resources) };
}

/** The old and the new name of the service account field always have the same value. */
function defaultServiceAccount(spec: PodSpec): Pick<PodSpec, 'serviceAccount' | 'serviceAccountName'> {
  const account = spec.serviceAccountName || spec.serviceAccount;
  return account === undefined || account === '' ? {} : { serviceAccount: account, serviceAccountName: account };
}

function defaultPodContainer(container: Container, hostNetwork: boolean): Container {
  const filled = defaultContainer(container);
  const resources = defaultResources(filled.resources ?? {});
  if (!hostNetwork || filled.ports === undefined) return { ...filled, resources };
  // On the host's network a container port is a port of the host, whether the manifest says so or not.
  const ports = filled.ports.map((port) => ({ ...port, hostPort: port.hostPort || port.containerPort }));
  return { ...filled, resources, ports };
}

/** Amounts in whole thousandths; a container with a limit and no request of a resource requests all of the limit. */
function defaultResources(resources: ResourceRequirements): ResourceRequirements {
  const limits = resources.limits && roundAmounts(resources.limits);
  const requests = resources.requests && roundAmounts(resources.requests);
  return {
    ...resources,
    ...(limits !== undefined && { limits, requests: { ...limits, ...requests } }),
    ...(limits === undefined && requests !== undefined && { requests }),
  };
}

function roundAmounts(amounts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(amounts).map(([name, text]) => [name, roundUpToMilli(text)]));
}

/**
 * Defaults of pod-level resources: the limit of huge pages is the sum of the containers' limits, and requests are the sum
 * of the containers' requests or, where no container has one, the pod's own limit.
 */
function defaultPodResources(spec: PodSpec, resources: ResourceRequirements): ResourceRequirements {
  const limits: Record<string, string> = { ...resources.limits };
  const requests: Record<string, string> = { ...resources.requests };
  const partlySet = Object.keys(limits).length > 0 || Object.keys(requests).length > 0;
  if (partlySet) {
    for (const [name, amount] of aggregateResources(spec, 'limits')) {
      if (isHugePages(name) && requests[name] === undefined) limits[name] ??= amount.toString();
    }
  }
  if (Object.keys(limits).length > 0) {
    for (const [name, amount] of aggregateResources(spec, 'requests')) {
      if (isPodLevelResource(name) && isOvercommitable(name)) requests[name] ??= amount.toString();
    }
    for (const [name, amount] of Object.entries(limits)) if (isPodLevelResource(name)) requests[name] ??= amount;
  }
  return {
    ...resources,
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(Object.keys(requests).length > 0 && { requests }),
  };
}
