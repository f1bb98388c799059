import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { NodeGetVolumeStatsResponse } from '../../gen/csi/v1.ts';
import { volumeEvents } from '../../model/event-reasons.ts';
import type { FilesystemUsage } from '../../model/usage.ts';
import type { MountedVolume } from '../ports.ts';
import type { DriverClient } from './driver-client.ts';

interface DriverStatsDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly drivers: { find(name: string): Pick<DriverClient, 'capabilities' | 'stats'> };
  /** What is mounted of a pod, by the names of its volumes. */
  readonly mounted: (uid: PodUid) => ReadonlyMap<string, MountedVolume>;
  /** Told when a driver finds something wrong with a volume; unset unless the gate CSIVolumeHealth is on. */
  readonly abnormal?: (
    uid: PodUid,
    event: { readonly type: 'Warning'; readonly reason: string; readonly message: string },
  ) => void;
}

/** What a driver tells of a volume. What it does not tell is undefined. */
interface DriverUsage extends FilesystemUsage {
  /** Unset for a driver that does not look. */
  readonly isAbnormal?: boolean;
}

/** Who measures goes on to the next volume after this; the driver may have two minutes for what pods wait for. */
const statsMs = 30_000;
// The numbers stand here too, because importing the generated ones would load all of gRPC.
const units = { BYTES: 1, INODES: 2 } as const;

/** What is in volumes of storage drivers, in their own words. It keeps nothing but which condition was told last. */
export class DriverStats {
  readonly #deps: DriverStatsDeps;
  readonly #reported = new WeakMap<MountedVolume, string>();

  constructor(deps: DriverStatsDeps) {
    this.#deps = deps;
  }

  /**
   * Nothing for a volume that no driver keeps, and for one whose driver does not measure: whoever has its file system can.
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

  /** Once for each condition, and again after it was gone. */
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

/** Pure. Units that nobody knows are passed over; an answer without any is none. */
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
