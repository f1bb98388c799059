import { podFullName, type PodFullName, type PodUid } from '../../base/ids.ts';
import type { Pod, PodStatus } from '../../gen/kubernetes/types.ts';
import { configAnnotations } from '../../model/annotations.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';

/** The mirrors of static pods as the API server has them; the only writer of the map static pod ↔ mirror. */
export class MirrorPods {
  #mirrors: ReadonlyMap<PodFullName, Pod> = new Map();

  /** Replaces the known mirror pods; returns the full names whose mirror pod was added, changed or removed. */
  set(mirrors: readonly Pod[]): readonly PodFullName[] {
    const next = new Map(mirrors.map((mirror) => [fullNameOf(mirror), mirror]));
    const changed = [...next].filter(([name, mirror]) => this.#mirrors.get(name) !== mirror).map(([name]) => name);
    const removed = [...this.#mirrors.keys()].filter((name) => !next.has(name));
    this.#mirrors = next;
    return [...changed, ...removed];
  }

  get(fullName: PodFullName): Pod | undefined {
    return this.#mirrors.get(fullName);
  }

  /** The mirror that shows this very pod, not an older one of its name. */
  of(pod: DesiredPod): Pod | undefined {
    const mirror = this.#mirrors.get(pod.fullName);
    return mirror !== undefined && mirrors(mirror, pod) ? mirror : undefined;
  }

  /** The last published statuses of these static pods, where their mirror pods show containers. */
  statusesOf(pods: readonly DesiredPod[]): readonly (readonly [PodUid, PodStatus])[] {
    return pods.flatMap((pod) => {
      const status = this.of(pod)?.status;
      return status?.containerStatuses === undefined ? [] : [[pod.uid, status] as const];
    });
  }

  fullNames(): readonly PodFullName[] {
    return [...this.#mirrors.keys()];
  }
}

/** Whether a mirror was made from this pod, as it is now. */
export function mirrors(mirror: Pod, pod: DesiredPod): boolean {
  const hash = pod.metadata.annotations?.[configAnnotations.hash];
  return hash !== undefined && mirror.metadata?.annotations?.[configAnnotations.mirror] === hash;
}

function fullNameOf({ metadata }: Pod): PodFullName {
  return podFullName(metadata?.name ?? '', metadata?.namespace ?? '');
}
