import type { Container } from '../../gen/kubernetes/types.ts';
import { describePod } from '../../model/containers.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { containerEvents } from '../../model/event-reasons.ts';
import { podFields } from '../../model/pod-log.ts';
import { startReasons } from '../../model/reasons.ts';
import type { StartRefusal } from '../../model/refusal.ts';
import { runHook, withoutArguments } from './run-hook.ts';
import {
  stopContainer,
  recordHttpFallback,
  type StopContainerDeps,
  type StoppableContainer,
} from './stop-container.ts';

interface PostStartInput {
  readonly pod: DesiredPod;
  readonly container: Container;
  readonly instance: StoppableContainer;
  readonly podIp: string;
  readonly fieldPath: string;
}

/** Runs the hook of a container that has just started. If it fails, the container is killed. */
export async function runPostStart(
  deps: StopContainerDeps,
  { pod, container, instance, podIp, fieldPath }: PostStartInput,
  signal: AbortSignal,
): Promise<StartRefusal | undefined> {
  const handler = container.lifecycle?.postStart;
  if (handler === undefined) return undefined;
  const input = { handler, container, id: instance.id, podIp, podName: describePod(pod) };
  const problem = await runHook(deps.hooks, { ...input, onPlainHttp: recordHttpFallback(deps, pod) }, signal);
  if (problem === undefined) return undefined;
  deps.log.warn('PostStart hook failed', {
    ...podFields(pod),
    containerName: container.name,
    containerID: instance.id,
    err: withoutArguments(problem, handler),
  });
  const message = 'PostStartHook failed';
  deps.events.record(pod, { type: 'Warning', reason: containerEvents.failedPostStartHook, message, fieldPath });
  const graceSeconds = pod.spec.terminationGracePeriodSeconds ?? 30;
  await stopContainer(deps, pod, instance, { graceSeconds, podIp, message: 'FailedPostStartHook', signal });
  return { reason: startReasons.postStartHookError, message: problem };
}
