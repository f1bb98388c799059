import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Volume } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import { volumeEvents } from '../model/event-reasons.ts';
import { podFields } from '../model/pod-log.ts';
import type { ClaimedVolume } from './claims/claimed-volume.ts';
import type { Claims } from './claims/volume-claims.ts';
import type { VolumeEvents, VolumePlugin } from './ports.ts';
import type { VolumeRecord } from './volume-record.ts';

interface VolumeGrowthDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
  readonly plugins: readonly VolumePlugin[];
  readonly claims: Pick<Claims, 'resolve'>;
  readonly events: VolumeEvents;
}

/** Nobody tells a node that a claim has changed, so that it is asked, but not all the time. */
const askEveryMs = 60_000;

/**
 * Volumes that become larger while pods use them. Each claim of a kind that can grow is asked for again at looks at its
 * pod, once a minute at most; the look does not wait for it, and the volume serves the pod meanwhile.
 */
export class VolumeGrowth {
  readonly #deps: VolumeGrowthDeps;

  constructor(deps: VolumeGrowthDeps) {
    this.#deps = deps;
  }

  /** Sees to a volume that is mounted. What is under way then is in the record, and heeds the signal. */
  look(pod: DesiredPod, volume: Volume, record: VolumeRecord, signal: AbortSignal): void {
    const { claimed } = record;
    if (claimed === undefined || record.growing !== undefined || signal.aborted) return;
    const plugin = this.#deps.plugins.find((candidate) => candidate.handlesClaimed?.(claimed.source) === true);
    if (plugin?.resize === undefined) return;
    const nowMs = this.#deps.clock.monotonic();
    // What was asked for when it was mounted counts as the first time.
    record.growthDueMs ??= nowMs + askEveryMs;
    if (nowMs < record.growthDueMs) return;
    record.growthDueMs = nowMs + askEveryMs;
    record.growing = this.#grow(plugin, pod, volume, claimed, record, signal).finally(() => delete record.growing);
  }

  async #grow(
    plugin: VolumePlugin,
    pod: DesiredPod,
    volume: Volume,
    before: ClaimedVolume,
    record: VolumeRecord,
    signal: AbortSignal,
  ): Promise<void> {
    const now = await this.#ask(pod, volume, before, signal);
    if (now === undefined) return;
    try {
      await plugin.resize?.({ pod, volume, claimed: now }, before, signal);
      record.claimed = now;
    } catch (error) {
      if (signal.aborted) return;
      const message = `NodeExpandVolume.NodeExpandVolume failed for volume "${now.name}" : ${describeError(error)}`;
      this.#deps.events.record(pod, { type: 'Warning', reason: volumeEvents.volumeResizeFailed, message });
    }
  }

  /** A claim that cannot be had any more, or is another by now, changes nothing for a pod that has its volume. */
  async #ask(
    pod: DesiredPod,
    volume: Volume,
    before: ClaimedVolume,
    signal: AbortSignal,
  ): Promise<ClaimedVolume | undefined> {
    const { claims, log } = this.#deps;
    try {
      const now = await claims.resolve(pod, volume, signal);
      return now.name === before.name ? now : undefined;
    } catch (error) {
      if (!signal.aborted) {
        log.debug(2, 'Size of a volume is not known', {
          ...podFields(pod),
          volume: volume.name,
          err: describeError(error),
        });
      }
      return undefined;
    }
  }
}
