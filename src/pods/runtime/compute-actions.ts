import type { SandboxId } from '../../base/ids.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedContainer, ObservedPod } from '../../model/observed-pod.ts';
import { computeRestart, restartPolicyOf } from '../../model/restart-policy.ts';
import { computeInitActions } from './compute-init-actions.ts';
import { computeRegularActions } from './compute-regular-actions.ts';
import { computeSandboxChange } from './compute-sandbox-change.ts';
import {
  killOf,
  startOf,
  type ActionsInput,
  type ContainerKill,
  type ContainerStart,
  type PodActions,
} from './pod-actions.ts';

/** What is to be done about a pod now. Pure: `PodRuntime` carries it out. */
export function computePodActions(input: ActionsInput): PodActions {
  const actions = actionsTowardsSpec(input);
  // No container is started for a pod that is being deleted.
  return input.pod.metadata.deletionTimestamp === undefined ? actions : { ...actions, start: [] };
}

function actionsTowardsSpec(input: ActionsInput): PodActions {
  const { pod, observed } = input;
  const sandbox = computeSandboxChange(pod, observed);
  if (sandbox.kind === 'replace') return actionsForNewSandbox(input, sandbox.attempt, sandbox.reason);

  const regular = computeRegularActions(input);
  if (regular.keep === 0 && regular.start.length === 0) {
    // Sidecars serve the regular containers: with none left there is nothing to serve.
    return { killPod: { reason: 'all containers have ended' }, sandbox: sandbox.id, kill: [], start: [] };
  }
  const ephemeral = ephemeralStarts(pod, observed);
  const init = computeInitActions(input, sandbox.id);
  if (init.progress === 'failed') {
    return { killPod: { reason: init.reason }, sandbox: sandbox.id, kill: init.kill, start: [] };
  }
  const outside = killsOutside(observed, sandbox.id);
  if (init.progress === 'underway') {
    const waitsFor = init.start.length === 0 ? { waitsFor: init.reason } : {};
    return { sandbox: sandbox.id, ...waitsFor, kill: [...outside, ...init.kill], start: [...ephemeral, ...init.start] };
  }
  return {
    sandbox: sandbox.id,
    kill: unique([...outside, ...init.kill, ...regular.kill]),
    start: [...ephemeral, ...init.start, ...regular.start],
  };
}

function actionsForNewSandbox(input: ActionsInput, attempt: number, reason: string): PodActions {
  const { pod, observed, ownRestartRules = false } = input;
  const killPod = observed.sandboxes.length + observed.containers.length > 0 ? { killPod: { reason } } : {};
  const nothing = { ...killPod, kill: [], start: [] };
  if (pod.metadata.deletionTimestamp !== undefined) return nothing;
  const { containers, initContainers = [], restartPolicy } = pod.spec;
  const newest = (name: string): ObservedContainer | undefined =>
    observed.containers.find((container) => container.name === name);
  const isSecondTime = attempt !== 0 && observed.containers.length > 0;
  const wanted = containers.filter((container) => {
    const own = { container, podPolicy: restartPolicy, ownRules: ownRestartRules };
    const policy = restartPolicyOf(own);
    const last = newest(container.name);
    // A container that may run only once does not run again because its sandbox was lost.
    const hasEnded = policy === 'Never' ? isSecondTime : policy === 'OnFailure' && last?.state === 'exited';
    return !hasEnded || (last?.state === 'exited' && computeRestart({ ...own, ended: last }));
  });
  const neverRestarts = isSecondTime && restartPolicy === 'Never';
  if (wanted.length === 0 && (neverRestarts || containers.some(({ name }) => newest(name) !== undefined)))
    return nothing;
  const [firstInit] = initContainers;
  const start =
    firstInit !== undefined
      ? [startOf(firstInit, 'init', newest(firstInit.name), 'the sandbox is new')]
      : wanted.map((container) => startOf(container, 'regular', newest(container.name), 'the sandbox is new'));
  return { ...killPod, createSandbox: { attempt, reason }, kill: [], start };
}

/** Kills of containers that run outside the pod's sandbox: they share no network with the rest of the pod. */
function killsOutside({ containers }: ObservedPod, sandbox: SandboxId): readonly ContainerKill[] {
  return containers
    .filter(({ sandboxId, state }) => sandboxId !== sandbox && (state === 'running' || state === 'unknown'))
    .map((container) => killOf(container, `Container ${container.name} runs in a sandbox that is gone`, 'unwanted'));
}

/** One kill for each instance, the first reason given. */
function unique(kills: readonly ContainerKill[]): readonly ContainerKill[] {
  return kills.filter(({ id }, index) => kills.findIndex((other) => other.id === id) === index);
}

/** An ephemeral container is started once, whatever else the pod is doing, and never again. */
function ephemeralStarts(pod: DesiredPod, observed: ObservedPod): readonly ContainerStart[] {
  return (pod.spec.ephemeralContainers ?? [])
    .filter(({ name }) => !observed.containers.some((container) => container.name === name))
    .map((container) => startOf(container, 'ephemeral', undefined, 'it was added to the pod'));
}
