import type { Clock } from '../../base/clock.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { volumeEvents } from '../../model/event-reasons.ts';
import type { HostPaths, VolumeEvents } from '../ports.ts';
import { forGroup, needsChange, type VolumeGroup } from './ownership.ts';

export interface VolumeOwnershipDeps {
  readonly clock: Pick<Clock, 'after'>;
  readonly paths: Pick<HostPaths, 'stat' | 'changeTree'>;
  readonly events: VolumeEvents;
}

export interface OwnershipChange {
  readonly pod: DesiredPod;
  /** The folder that is walked; may be a descriptor's path. */
  readonly path: string;
  /** The volume's folder in events, where that is another. */
  readonly shownAs?: string;
  readonly group: VolumeGroup;
  /** The pod's `fsGroupChangePolicy`, for plugins that support it. */
  readonly policy?: string | undefined;
}

/** How long the work goes on before the first event. */
const firstReportMs = 30_000;
const nextReportMs = 60_000;
const advice =
  'https://kubernetes.io/docs/tasks/configure-pod-container/security-context/' +
  '#configure-volume-permission-and-ownership-change-policy-for-pods';

/**
 * Gives a volume to the pod's group, unless the policy and its top folder say that this is done already. Events report
 * work that takes long, because the pod's containers wait meanwhile:
 *
 *   walking ──30 s──> "is taking longer than expected" ──60 s──> "processed n files" ──60 s──> …
 */
export async function setVolumeOwnership(
  deps: VolumeOwnershipDeps,
  change: OwnershipChange,
  signal: AbortSignal,
): Promise<void> {
  const { path, group, policy } = change;
  const top = await deps.paths.stat(path);
  if (top === undefined || !needsChange(policy, top, group)) return;
  const progress = new Progress(deps, change);
  try {
    await deps.paths.changeTree(path, forGroup(group), signal, (entries) => progress.processed(entries));
  } finally {
    progress.end();
  }
}

class Progress {
  readonly #deps: VolumeOwnershipDeps;
  readonly #change: OwnershipChange;
  #files = 0;
  #cancel: () => void;

  constructor(deps: VolumeOwnershipDeps, change: OwnershipChange) {
    this.#deps = deps;
    this.#change = change;
    this.#cancel = deps.clock.after(firstReportMs, () => {
      this.#report(`is taking longer than expected, consider using OnRootMismatch - ${advice}`, ' ');
      this.#reportLater();
    });
  }

  processed(entries: number): void {
    this.#files += entries;
  }

  end(): void {
    this.#cancel();
  }

  #reportLater(): void {
    this.#cancel = this.#deps.clock.after(nextReportMs, () => {
      this.#report(`processed ${this.#files} files.`, ', ');
      this.#reportLater();
    });
  }

  #report(news: string, between: string): void {
    const { pod, path, shownAs = path } = this.#change;
    const message = `Setting volume ownership for ${fromPodOn(shownAs, pod.uid)}${between}${news}`;
    this.#deps.events.record(pod, { type: 'Warning', reason: volumeEvents.volumePermissionChangeInProgress, message });
  }
}

/** Events show the path from the pod's own folder on, and not where the agent keeps its files. */
function fromPodOn(path: string, uid: string): string {
  const at = path.indexOf(uid);
  return at === -1 ? path : path.slice(at);
}
