import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { isMirrorPod } from '../../src/model/annotations.ts';
import { isTerminalPhase } from '../../src/model/reasons.ts';
import type { SimNode } from './node.ts';
import type { PodPlan } from './pod-plans.ts';

/** Two renewals of the lease. */
const leaseMs = 20_000;
/** The node's status is reported each five minutes, or half of that later, as upstream has it, and computed each ten seconds. */
const reportMs = 470_000;

/** What keeps the API server from showing the node and its pods as they are; empty when all is right. */
export function unsettledCluster(node: SimNode): string[] {
  const plans = [...node.manifests.values()];
  const names = new Set(plans.map(({ name }) => name));
  const stray = node.cluster.pods().filter(({ metadata }) => !names.has(metadata?.name ?? ''));
  return [
    ...unsettledNode(node),
    ...plans.flatMap((plan) => (node.mayRun(plan.uid) ? unsettledPod(node, plan) : [])),
    ...stray.map(({ metadata }) => `the API server still shows ${metadata?.name}`),
  ];
}

function unsettledNode({ cluster, clock, wallSetAt }: SimNode): string[] {
  const renewed = Date.parse(cluster.lease()?.spec?.renewTime ?? '');
  const ready = cluster.node()?.status?.conditions?.find(({ type }) => type === 'Ready');
  // What was reported before the clock was set says nothing now.
  const isRecent = clock.monotonic() - wallSetAt < reportMs;
  const reported = Date.parse(ready?.lastHeartbeatTime ?? '');
  return [
    ...(clock.now() - renewed <= leaseMs ? [] : [`the lease was renewed at ${cluster.lease()?.spec?.renewTime}`]),
    ...(ready?.status === 'True' ? [] : [`the node is not ready: ${ready?.message ?? 'nobody said so'}`]),
    ...(isRecent || clock.now() - reported <= reportMs
      ? []
      : [`the node's status was reported at ${ready?.lastHeartbeatTime}`]),
  ];
}

function unsettledPod(node: SimNode, plan: PodPlan): string[] {
  const { uid, name } = plan;
  const pod = node.cluster.pod(name);
  if (pod === undefined) return [`the API server does not show ${uid}`];
  const isStatic = plan.pod.source !== 'api';
  if (isStatic && !isMirrorPod(pod.metadata ?? {})) return [`${name} is no mirror pod`];
  if (pod.metadata?.deletionTimestamp !== undefined) return [`${name} is being deleted at the API server`];
  const phase = node.agent.stores?.statuses.get(uid)?.phase;
  if (pod.status?.phase !== phase) return [`${uid} is ${phase}, and the API server says ${pod.status?.phase}`];
  return isTerminalPhase(phase) ? [] : unsettledContainers(node, plan, pod);
}

/** What the API server says of containers is what the runtime has. */
function unsettledContainers(node: SimNode, { uid, containers }: PodPlan, { status }: Pod): string[] {
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  return containers.flatMap(({ name }) => {
    const real = node.containersOf(uid).findLast(({ config }) => config.metadata?.name === name);
    const reported = statuses.find((container) => container.name === name);
    if (real === undefined) return [];
    const word =
      reported?.state?.running !== undefined
        ? 'running'
        : reported?.state?.terminated === undefined
          ? 'waiting'
          : 'exited';
    const isOther = reported?.containerID?.endsWith(real.id) !== true;
    if (isOther) return [`the API server shows ${reported?.containerID} for ${uid} ${name}, and there is ${real.id}`];
    return word === real.state ? [] : [`${uid} ${name} is ${real.state}, and the API server says ${word}`];
  });
}

/** What rooms still remember of pods when there are none. */
export function leftInMemory({ agent, manifests }: SimNode): string[] {
  if (manifests.size > 0) return [];
  const sizes = [...(agent.views?.signals.podRemoval.sizes() ?? [])];
  return sizes.filter(([, size]) => size > 0).map(([name, size]) => `${name} remembers ${size} pods that are gone`);
}
