import type { ContainerId, SandboxId } from '../../base/ids.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';

export interface Prune {
  readonly containers: readonly ContainerId[];
  readonly sandboxes: readonly SandboxId[];
}

/**
 * What nobody needs any more: of each container the newest dead instance stays, for its logs and exit code; older ones
 * go, and so do instances that were made but never started and have a successor. Of sandboxes the newest stays, and any
 * that still holds a container that stays.
 */
export function computePrune(observed: ObservedPod): Prune {
  const containers: ContainerId[] = [];
  const held = new Set<SandboxId>();
  const seen = new Set<string>();
  const deadSeen = new Set<string>();
  for (const { id, name, state, sandboxId } of observed.containers) {
    if ((state === 'exited' && deadSeen.has(name)) || (state === 'created' && seen.has(name))) {
      containers.push(id);
      continue;
    }
    seen.add(name);
    if (state === 'exited') deadSeen.add(name);
    held.add(sandboxId);
  }
  const sandboxes = observed.sandboxes
    .slice(1)
    .filter(({ id, state }) => state === 'notReady' && !held.has(id))
    .map(({ id }) => id);
  return { containers, sandboxes };
}
