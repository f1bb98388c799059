import type { PodUid } from '../../src/base/ids.ts';
import { isTerminalPhase } from '../../src/model/reasons.ts';
import type { FakeContainer } from '../../src/testing/fake-cri/index.ts';
import { leftInMemory, unsettledCluster } from './cluster-settled.ts';
import type { SimNode } from './node.ts';
import type { PlannedContainer, PodPlan } from './pod-plans.ts';
import { unsettledVolumes } from './volume-settled.ts';

/** What keeps the node from being as its manifests want it; empty when it is. */
export function unsettled(node: SimNode): string[] {
  const { stores, heardAt } = node.agent;
  if (stores === undefined || heardAt === undefined) return ['the agent is not up'];
  const wanted = [...node.manifests.values()].flatMap((plan) =>
    node.mayRun(plan.uid) ? unsettledPod(node, plan) : [`${plan.uid} is still being deleted`],
  );
  const gone = [...node.plans.keys()].filter((uid) => !node.isDesired(uid)).flatMap((uid) => remains(node, uid));
  return [...wanted, ...gone, ...unsettledVolumes(node), ...unsettledCluster(node), ...leftInMemory(node)];
}

function unsettledPod(node: SimNode, plan: PodPlan): string[] {
  const { uid } = plan;
  const { stores } = node.agent;
  const phase = stores?.statuses.get(uid)?.phase;
  const containers = node.containersOf(uid);
  const regular = plan.containers
    .filter(({ role }) => role === 'regular')
    .map((planned) => newest(containers, planned));
  const running = containers.filter(({ state }) => state === 'running');
  if (isTerminalPhase(phase)) {
    if (running.length > 0) return [`${uid} is ${phase} and ${running.length} containers run`];
    if (stores?.lifecycles.isFinished(uid) !== true) return [`${uid} is ${phase} and its worker is not finished`];
    return isRightEnd(node, plan, phase, regular) ? [] : [`${uid} is ${phase}, but its containers tell otherwise`];
  }
  if (phase !== 'Running') return [`${uid} is ${phase}`];
  // Init containers that somebody else removed after they had done their work are not missed.
  const needed = plan.containers.filter(({ role }) => role !== 'init' || !node.tampered.has(uid));
  const missing = needed.filter((planned) => !isAsWanted(plan, planned, newest(containers, planned)));
  const ready = [...node.cri.state.sandboxes.values()].filter(
    ({ config, state }) => config.metadata?.uid === uid && state === 'ready',
  );
  const strays = running.filter(({ sandboxId }) => sandboxId !== ready[0]?.id);
  const logless = running.filter(({ logPath }) => !node.disk.has(logPath));
  return [
    ...missing.map(({ name }) => `${uid} runs without ${name}${waitOf(node, uid, name)}`),
    ...(ready.length === 1 ? [] : [`${uid} has ${ready.length} ready sandboxes`]),
    ...strays.map(({ name }) => `${name} runs outside of the sandbox`),
    ...logless.map(({ logPath }) => `${logPath} is not there`),
    ...(node.disk.has(`/var/lib/kubelet/pods/${uid}/etc-hosts`) ? [] : [`${uid} has no hosts file`]),
    ...(regular.every((container) => container?.state === 'exited')
      ? [`${uid} is Running with nothing that runs`]
      : []),
  ];
}

function isAsWanted(plan: PodPlan, { role }: PlannedContainer, container: FakeContainer | undefined): boolean {
  if (container?.state === 'running') return role !== 'init';
  if (role === 'init') return container?.state === 'exited' && container.exitCode === 0;
  if (role === 'sidecar' || container?.state !== 'exited') return false;
  if (plan.restartPolicy === 'Never') return true;
  return plan.restartPolicy === 'OnFailure' && container.exitCode === 0;
}

/** Evicted pods fail whatever they did; others end as their containers did. */
function isRightEnd(
  node: SimNode,
  plan: PodPlan,
  phase: string,
  regular: readonly (FakeContainer | undefined)[],
): boolean {
  const evicted = node.agent.stores?.statuses.get(plan.uid)?.reason === 'Evicted';
  if (evicted) return phase === 'Failed';
  if (node.troubles.mayHaveForgotten(plan.uid)) return true;
  if (plan.restartPolicy === 'Always') return false;
  const succeeded = regular.every((container) => container?.state === 'exited' && container.exitCode === 0);
  if (succeeded) return phase === 'Succeeded';
  return plan.restartPolicy === 'Never' && phase === 'Failed';
}

/** Everything that is still there of a pod that nobody wants. */
function remains(node: SimNode, uid: PodUid): string[] {
  const { stores } = node.agent;
  const sandboxes = [...node.cri.state.sandboxes.values()].filter(({ config }) => config.metadata?.uid === uid);
  return [
    ...sandboxes.map(({ name, state }) => `sandbox ${name} (${state}) is left`),
    ...node.containersOf(uid).map(({ name, state }) => `container ${name} (${state}) is left`),
    ...(node.disk.has(`/var/lib/kubelet/pods/${uid}`) ? [`files of ${uid} are left`] : []),
    ...(node.disk.names('/var/log/pods').some((name) => name.endsWith(`_${uid}`)) ? [`logs of ${uid} are left`] : []),
    ...[...node.machine.cgroups.groups.keys()]
      .filter((path) => path.endsWith(`pod${uid}`))
      .map((path) => `${path} is left`),
    ...(stores?.lifecycles.knows(uid) === true ? [`the worker of ${uid} is left`] : []),
    ...(stores?.statuses.get(uid) === undefined ? [] : [`the status of ${uid} is left`]),
  ];
}

/** Why the agent says that it waits with a container. */
function waitOf(node: SimNode, uid: PodUid, name: string): string {
  const { containerStatuses = [], initContainerStatuses = [] } = node.agent.stores?.statuses.get(uid) ?? {};
  const waiting = [...containerStatuses, ...initContainerStatuses].find((status) => status.name === name)?.state
    ?.waiting;
  return waiting === undefined ? '' : ` (${waiting.reason}: ${waiting.message ?? ''})`;
}

function newest(containers: readonly FakeContainer[], { name }: PlannedContainer): FakeContainer | undefined {
  return containers.findLast(({ config }) => config.metadata?.name === name);
}
