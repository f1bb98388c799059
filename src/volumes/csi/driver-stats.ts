import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { NodeGetVolumeStatsResponse } from '../../gen/csi/v1.ts';
import { volumeEvents } from '../../model/event-reasons.ts';
import type { ObjectEvent } from '../../model/object-event.ts';
import type { FilesystemUsage } from '../../model/usage.ts';
import type { MountedVolume } from '../ports.ts';
import type { DriverClient } from './driver-client.ts';

interface DriverStatsDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly drivers: { find(name: string): Pick<DriverClient, 'capabilities' | 'stats'> };
  /** What is mounted of a pod, by the names of its volumes. */
  readonly mounted: (uid: PodUid) => ReadonlyMap<string, MountedVolume>;
  /** Records an event when a driver finds a volume abnormal; unset unless the gate CSIVolumeHealth is on. */
  readonly abnormal?: (uid: PodUid, event: ObjectEvent) => void;
}

/** What a driver reports of a volume. What it does not report is undefined. */
interface DriverUsage extends FilesystemUsage {
  /** Unset for a driver that does not check. */
  readonly isAbnormal?: boolean;
}

/** Shorter than the two minutes of other calls: a meter goes on to the next volume, and no pod waits for it. */
const statsMs = 30_000;
// The numbers are repeated here, because importing the generated ones would load all of gRPC.
const units = { BYTES: 1, INODES: 2 } as const;

/** Usage of CSI volumes, as their drivers report it. Keeps only the condition that was last reported. */
export class DriverStats {
  readonly #deps: DriverStatsDeps;
  readonly #reported = new WeakMap<MountedVolume, string>();

  constructor(deps: DriverStatsDeps) {
    this.#deps = deps;
  }

  /**
   * Undefined for a volume without a driver, and for a driver that does not measure: the meter reads the file system then.
   * Rejects when the driver does not answer in time; ends with the signal.
   */
  async volumeUsage(
    { uid, name }: { readonly uid: PodUid; readonly name: string },
    signal: AbortSignal,
  ): Promise<{ readonly driver: string; readonly usage: DriverUsage } | undefined> {
    const { clock, drivers, mounted } = this.#deps;
    const volume = mounted(uid).get(name);
    if (volume?.driver === undefined) return undefined;
    const { name: driver, volumeHandle: volumeId, volumePath } = volume.driver;
    const client = drivers.find(driver);
    const can = await client.capabilities({ signal });
    if (!can.has('GET_VOLUME_STATS')) return undefined;
    const answer = await client.stats({ volumeId, volumePath }, { signal, timeoutMs: statsMs });
    const usage = usageOf(answer, clock.now());
    if (!can.has('VOLUME_CONDITION') || answer.volumeCondition === undefined) return { driver, usage };
    const { abnormal: isAbnormal, message } = answer.volumeCondition;
    this.#reportCondition(uid, name, volume, isAbnormal ? message : undefined);
    return { driver, usage: { ...usage, isAbnormal } };
  }

  /** Once for each condition, and again after it had ended. */
  #reportCondition(uid: PodUid, name: string, volume: MountedVolume, condition: string | undefined): void {
    if (condition === undefined) {
      this.#reported.delete(volume);
      return;
    }
    if (this.#reported.get(volume) === condition) return;
    this.#reported.set(volume, condition);
    const message = `Volume ${name}: ${condition}`;
    this.#deps.abnormal?.(uid, { type: 'Warning', reason: volumeEvents.volumeConditionAbnormal, message });
  }
}

/** Pure. Ignores unknown units; throws when no unit is known. */
export function usageOf({ usage }: Pick<NodeGetVolumeStatsResponse, 'usage'>, at: number): FilesystemUsage {
  const bytes = usage.findLast(({ unit }) => unit === units.BYTES);
  const inodes = usage.findLast(({ unit }) => unit === units.INODES);
  if (bytes === undefined && inodes === undefined) {
    throw new TubeletError('invalid', 'failed to get usage from response. usage is nil');
  }
  const figure = (value: bigint | undefined): number | undefined => (value === undefined ? undefined : Number(value));
  return {
    at,
    capacity: figure(bytes?.total),
    available: figure(bytes?.available),
    used: figure(bytes?.used),
    inodes: figure(inodes?.total),
    inodesFree: figure(inodes?.available),
    inodesUsed: figure(inodes?.used),
  };
}
