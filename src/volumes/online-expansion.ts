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

interface OnlineExpansionDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
  readonly plugins: readonly VolumePlugin[];
  readonly claims: Pick<Claims, 'resolve'>;
  readonly events: VolumeEvents;
}

/** Nodes cannot watch claims, so this reads them, at most so often. */
const readPeriodMs = 60_000;

/**
 * Expands volumes while pods use them. At syncs of a pod it reads each claim again whose plugin can expand, once a minute
 * at most. The sync does not wait for it, and the pod uses the volume meanwhile.
 */
export class OnlineExpansion {
  readonly #deps: OnlineExpansionDeps;

  constructor(deps: OnlineExpansionDeps) {
    this.#deps = deps;
  }

  /** Starts an expansion of a mounted volume if it is time. The record has what is under way; it ends with the signal. */
  expandIfDue(pod: DesiredPod, volume: Volume, record: VolumeRecord, signal: AbortSignal): void {
    const { claimed } = record;
    if (claimed === undefined || record.expanding !== undefined || signal.aborted) return;
    const plugin = this.#deps.plugins.find((candidate) => candidate.handlesClaimed?.(claimed.source) === true);
    if (plugin?.resize === undefined) return;
    const nowMs = this.#deps.clock.monotonic();
    // The read for the mount counts as the first one.
    record.expansionDueMs ??= nowMs + readPeriodMs;
    if (nowMs < record.expansionDueMs) return;
    record.expansionDueMs = nowMs + readPeriodMs;
    record.expanding = this.#expand(plugin, pod, volume, claimed, record, signal).finally(
      () => delete record.expanding,
    );
  }

  async #expand(
    plugin: VolumePlugin,
    pod: DesiredPod,
    volume: Volume,
    before: ClaimedVolume,
    record: VolumeRecord,
    signal: AbortSignal,
  ): Promise<void> {
    const now = await this.#readClaim(pod, volume, before, signal);
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

  /** A claim that cannot be read, or that is bound to another volume now, changes nothing for a pod that has its volume. */
  async #readClaim(
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
