import type { Decision } from '../../model/decisions.ts';
import { podEvents } from '../../model/event-reasons.ts';
import type { ObservedContainer } from '../../model/observed-pod.ts';
import { startReasons } from '../../model/reasons.ts';
import type { StartRefusal } from '../../model/refusal.ts';
import type { ContainerKill, ContainerStart, PodActions } from './pod-actions.ts';
import { withoutArguments } from './run-hook.ts';

const killReasons: Readonly<Record<ContainerKill['cause'], string>> = {
  unwanted: 'Unwanted',
  changed: 'DefinitionChanged',
  liveness: 'LivenessProbeFailed',
  startup: 'StartupProbeFailed',
  lost: 'StateUnknown',
};

/** The runtime's pod as a whole is stopped: for a new sandbox, or for good. */
export function killPodDecision({ createSandbox }: PodActions, { reason }: { readonly reason: string }): Decision {
  return createSandbox === undefined
    ? decided('giveUp', 'NothingToStart', reason)
    : decided('kill', podEvents.sandboxChanged, reason);
}

export function createSandboxDecision({ attempt, reason }: NonNullable<PodActions['createSandbox']>): Decision {
  return { ...decided('createSandbox', attempt === 0 ? 'NoSandbox' : 'SandboxUnusable', reason), inputs: { attempt } };
}

/** The sandbox could not be created. The pod worker decides when it is tried again. */
export function sandboxRefusedDecision(message: string): Decision {
  return decided('refuse', podEvents.failedCreatePodSandbox, message);
}

export function sandboxWaitDecision(nextTryInMs: number): Decision {
  const message = 'the sandbox before was made just now and is of no use';
  return { ...decided('wait', 'SandboxTooYoung', message), nextTryInMs };
}

export function networkWaitDecision(message: string, nextTryInMs: number): Decision {
  return { ...decided('wait', podEvents.networkNotReady, message), nextTryInMs };
}

/** The next container waits for an init container to end or a sidecar to start. */
export function initWaitDecision(waitsFor: string): Decision {
  return decided('wait', 'PodInitializing', waitsFor);
}

export function killDecision({ id, name, message, cause }: ContainerKill, graceSeconds: number): Decision {
  const inputs = { containerID: id, graceSeconds };
  return { ...decided('kill', killReasons[cause], message), containerName: name, inputs };
}

export function startedDecision({ container, previous, reason }: ContainerStart): Decision {
  const isFirst = previous === undefined || previous.state === 'created';
  const how = isFirst ? decided('start', 'Started', reason) : decided('restart', 'Restarted', reason);
  return { ...how, containerName: container.name, ...inputsOf(previous) };
}

export function refusedDecision(
  { container, previous }: ContainerStart,
  refusal: StartRefusal,
  nextTryInMs: number,
): Decision {
  const { reason } = refusal;
  const { postStart } = container.lifecycle ?? {};
  const message = postStart === undefined ? refusal.message : withoutArguments(refusal.message, postStart);
  const kind = reason === startReasons.crashLoopBackOff || reason === startReasons.imagePullBackOff;
  return {
    ...decided(kind ? 'backOff' : 'refuse', reason, message),
    containerName: container.name,
    ...inputsOf(previous),
    nextTryInMs,
  };
}

/** How the instance before is, or ended. */
function inputsOf(previous: ObservedContainer | undefined): Pick<Decision, 'inputs'> {
  if (previous === undefined) return {};
  const { id, attempt, state, exitCode, reason, finishedAt } = previous;
  const end = state === 'exited' ? { exitCode, reason, finishedAt: endOf(finishedAt) } : {};
  return { inputs: { previous: { containerID: id, restartCount: attempt, state, ...end } } };
}

function endOf(finishedAt: number): string | undefined {
  return finishedAt > 0 && finishedAt < 8.64e15 ? new Date(finishedAt).toISOString() : undefined;
}

function decided(kind: Decision['kind'], reason: string, message: string): Decision {
  return { kind, by: 'pod-runtime', reason, message };
}
