import { describeError, isKind, TubeletError } from '../../base/errors.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedContainer, ObservedPod } from '../../model/observed-pod.ts';
import { computeStopOrder } from './compute-stop-order.ts';
import type { ContainerRuntime, SandboxRuntime } from './ports.ts';
import { stopContainer, type StopContainerDeps } from './stop-container.ts';

interface StopDeps extends StopContainerDeps {
  readonly runtime: SandboxRuntime & ContainerRuntime;
}

/**
 * Stops all containers of a pod, then all its sandboxes. What the runtime does not have counts as stopped. One container
 * that cannot be stopped does not keep the others running; the failures are thrown together.
 */
export async function stopPod(
  deps: StopDeps,
  pod: DesiredPod | undefined,
  observed: ObservedPod,
  graceSeconds: number,
  signal: AbortSignal,
): Promise<void> {
  const stops = await stopContainers(deps, pod, observed, graceSeconds, signal);
  signal.throwIfAborted();
  throwTogether(stops, 'cannot stop containers');
  const sandboxes = await Promise.allSettled(
    observed.sandboxes.map(({ id }) => ignoreNotFound(deps.runtime.stopPodSandbox({ podSandboxId: id }, { signal }))),
  );
  throwTogether(sandboxes, 'cannot stop sandboxes');
}

/**
 * Stops the running containers at once, except that sidecars wait for those they serve. Sidecars are stopped even when a
 * container they serve could not be.
 */
function stopContainers(
  deps: StopDeps,
  pod: DesiredPod | undefined,
  observed: ObservedPod,
  graceSeconds: number,
  signal: AbortSignal,
): Promise<PromiseSettledResult<void>[]> {
  const order = pod === undefined ? new Map<string, readonly string[]>() : computeStopOrder(pod.spec);
  const podIp = observed.sandboxes[0]?.ips[0] ?? '';
  const stops = new Map<string, Promise<void>>();
  const alive = observed.containers.filter(({ state }) => state === 'running' || state === 'unknown');
  // Containers that others wait for come first, so that their stops exist when the others ask for them.
  const waitsFor = ({ name }: ObservedContainer): readonly string[] => order.get(name) ?? [];
  for (const container of alive.toSorted((a, b) => waitsFor(a).length - waitsFor(b).length)) {
    const before = waitsFor(container).flatMap((name) => stops.get(name) ?? []);
    const waitFor = before.length === 0 ? {} : { waitFor: Promise.allSettled(before) };
    stops.set(
      container.name,
      stopContainer(deps, pod, container, { graceSeconds, podIp, orphan: observed, signal, ...waitFor }),
    );
  }
  return Promise.allSettled(stops.values());
}

/** Takes containers and sandboxes of a stopped pod out of the runtime. */
export async function removePod(deps: StopDeps, observed: ObservedPod, signal: AbortSignal): Promise<void> {
  const containers = await Promise.allSettled(
    observed.containers.map(({ id }) => ignoreNotFound(deps.runtime.removeContainer({ containerId: id }, { signal }))),
  );
  throwTogether(containers, 'cannot remove containers');
  const sandboxes = await Promise.allSettled(
    observed.sandboxes.map(({ id }) => ignoreNotFound(deps.runtime.removePodSandbox({ podSandboxId: id }, { signal }))),
  );
  throwTogether(sandboxes, 'cannot remove sandboxes');
}

/** A container or sandbox that the runtime does not have is stopped and removed already. */
export async function ignoreNotFound(call: Promise<unknown>): Promise<void> {
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
