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
 * Stops all containers of a pod, then all its sandboxes. What is gone already counts as stopped. One container
 * that cannot be stopped does not keep the others running; the failures come back together.
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
    observed.sandboxes.map(({ id }) => gone(deps.runtime.stopPodSandbox({ podSandboxId: id }, { signal }))),
  );
  throwTogether(sandboxes, 'cannot stop sandboxes');
}

/**
 * Stops the living containers at once, except that sidecars wait for those they serve. A container that could not be
 * stopped lets its sidecars go on to their end all the same.
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
  // Those that others wait for come first, so that their stops are there to be waited for.
  const waitsFor = ({ name }: ObservedContainer): readonly string[] => order.get(name) ?? [];
  for (const container of alive.toSorted((a, b) => waitsFor(a).length - waitsFor(b).length)) {
    const before = waitsFor(container).flatMap((name) => stops.get(name) ?? []);
    const turn = before.length === 0 ? {} : { turn: Promise.allSettled(before) };
    stops.set(
      container.name,
      stopContainer(deps, pod, container, { graceSeconds, podIp, orphan: observed, signal, ...turn }),
    );
  }
  return Promise.allSettled(stops.values());
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
