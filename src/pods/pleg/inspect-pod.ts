import { isKind } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import { ListContainersRequest, ListPodSandboxRequest } from '../../gen/cri/api.ts';
import { podNameLabel, podNamespaceLabel, podUidLabel } from '../../model/labels.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../model/observed-pod.ts';
import type { ObservableRuntime } from './ports.ts';
import { toObservedContainer, toObservedSandbox } from './to-observed.ts';

/**
 * Asks the runtime for everything it has of one pod. What is removed between the listing and the status call is left out,
 * so the observation shows it as removed.
 */
export async function inspectPod(runtime: ObservableRuntime, uid: PodUid, observedAt: number): Promise<ObservedPod> {
  const labelSelector = { [podUidLabel]: uid };
  const [listedSandboxes, listedContainers] = await Promise.all([
    runtime.listPodSandbox(ListPodSandboxRequest.fromPartial({ filter: { labelSelector } })),
    runtime.listContainers(ListContainersRequest.fromPartial({ filter: { labelSelector } })),
  ]);
  const [sandboxes, containers] = await Promise.all([
    Promise.all(
      listedSandboxes.items
        .map(async ({ id }): Promise<ObservedSandbox | undefined> => {
          const { status } = await runtime.podSandboxStatus({ podSandboxId: id, verbose: false });
          return status && toObservedSandbox(status);
        })
        .map(undefinedIfMissing),
    ),
    Promise.all(
      listedContainers.containers
        .map(async ({ id, podSandboxId }): Promise<ObservedContainer | undefined> => {
          const { status } = await runtime.containerStatus({ containerId: id, verbose: false });
          return status && toObservedContainer(status, podSandboxId);
        })
        .map(undefinedIfMissing),
    ),
  ]);
  const labels = (listedSandboxes.items[0] ?? listedContainers.containers[0])?.labels ?? {};
  return {
    uid,
    name: labels[podNameLabel] ?? '',
    namespace: labels[podNamespaceLabel] ?? '',
    observedAt,
    sandboxes: newestFirst(sandboxes.filter((sandbox) => sandbox !== undefined)),
    containers: newestFirst(containers.filter((container) => container !== undefined)),
  };
}

async function undefinedIfMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isKind(error, 'notFound')) return undefined;
    throw error;
  }
}

/** By attempt, which only grows: times of creation are wall times, and the clock may have been set back in between. */
function newestFirst<T extends { readonly attempt: number; readonly createdAt: number }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => b.attempt - a.attempt || b.createdAt - a.createdAt);
}
