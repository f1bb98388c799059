import { describeError, isKind, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { containerFieldPath, findContainer } from '../../model/containers.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { containerEvents } from '../../model/event-reasons.ts';
import type { ObservedContainer, ObservedPod } from '../../model/observed-pod.ts';
import type { ContainerRuntime, PodEvents, SandboxRuntime } from './ports.ts';

export interface StopDeps {
  readonly runtime: SandboxRuntime & ContainerRuntime;
  readonly events: PodEvents;
  readonly log: Log;
}

/** A container always gets this long between the polite signal and the other one. */
const minimumStopSeconds = 2;

/**
 * Stops all containers of a pod at once, then all its sandboxes. What is gone already counts as stopped. One container
 * that cannot be stopped does not keep the others running; the failures come back together.
 */
export async function stopPod(
  deps: StopDeps,
  pod: DesiredPod | undefined,
  observed: ObservedPod,
  graceSeconds: number,
  signal: AbortSignal,
): Promise<void> {
  const alive = observed.containers.filter(({ state }) => state === 'running' || state === 'unknown');
  const stops = await Promise.allSettled(
    alive.map((container) => stopContainer(deps, pod, container, { graceSeconds, signal })),
  );
  signal.throwIfAborted();
  throwTogether(stops, 'cannot stop containers');
  const sandboxes = await Promise.allSettled(
    observed.sandboxes.map(({ id }) => gone(deps.runtime.stopPodSandbox({ podSandboxId: id }, { signal }))),
  );
  throwTogether(sandboxes, 'cannot stop sandboxes');
}

export interface StopHow {
  readonly graceSeconds: number;
  /** Why, in the words of the event; a plain stop says so itself. */
  readonly message?: string;
  readonly signal: AbortSignal;
}

export async function stopContainer(
  deps: StopDeps,
  pod: DesiredPod | undefined,
  container: ObservedContainer,
  { graceSeconds, message = `Stopping container ${container.name}`, signal }: StopHow,
): Promise<void> {
  const entry = pod && findContainer(pod.spec, container.name);
  if (pod !== undefined && entry !== undefined) {
    const fieldPath = containerFieldPath(entry.kind, container.name);
    deps.events.record(pod, { type: 'Normal', reason: containerEvents.killing, message, fieldPath });
  }
  const timeout = BigInt(Math.max(minimumStopSeconds, Math.ceil(graceSeconds)));
  deps.log.debug(2, 'Killing container with a grace period', {
    containerName: container.name,
    containerID: container.id,
    gracePeriod: Number(timeout),
  });
  await gone(deps.runtime.stopContainer({ containerId: container.id, timeout }, { signal }));
}

/** Takes containers and sandboxes of a stopped pod out of the runtime. */
export async function removePod(deps: StopDeps, observed: ObservedPod, signal: AbortSignal): Promise<void> {
  const containers = await Promise.allSettled(
    observed.containers.map(({ id }) => gone(deps.runtime.removeContainer({ containerId: id }, { signal }))),
  );
  throwTogether(containers, 'cannot remove containers');
  const sandboxes = await Promise.allSettled(
    observed.sandboxes.map(({ id }) => gone(deps.runtime.removePodSandbox({ podSandboxId: id }, { signal }))),
  );
  throwTogether(sandboxes, 'cannot remove sandboxes');
}

/** What is not there needs no stopping and no removing. */
export async function gone(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isKind(error, 'notFound')) throw error;
  }
}

function throwTogether(results: readonly PromiseSettledResult<unknown>[], what: string): void {
  const failures = results.filter((result) => result.status === 'rejected').map((result): unknown => result.reason);
  if (failures.length === 0) return;
  throw new TubeletError('internal', `${what}: ${failures.map(describeError).join('; ')}`, { cause: failures[0] });
}
