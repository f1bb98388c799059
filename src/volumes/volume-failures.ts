import { cutText } from '../base/cut-text.ts';
import { describeError, kindOf, TubeletError } from '../base/errors.ts';
import { volumeEvents } from '../model/event-reasons.ts';

/** Upstream's names of the steps. Users search for them. */
export type VolumeStep =
  | 'MountVolume.NodeAffinity check failed'
  | 'MountVolume.NewMounter initialization failed'
  | 'MountVolume.MountOptionSupport check failed'
  | 'MountVolume.WaitForAttach failed'
  | 'MountVolume.MountDevice failed'
  | 'MountVolume.SetUp failed'
  | 'MountVolume.Setup failed while expanding volume'
  | 'MapVolume.WaitForAttach failed'
  | 'MapVolume.SetUpDevice failed'
  | 'MapVolume.MapPodDevice failed'
  | 'MapVolume.MapBlockVolume failed'
  | 'MapVolume.MarkVolumeAsMounted failed while expanding volume';

export class VolumeStepError extends TubeletError {
  readonly step: VolumeStep;

  constructor(step: VolumeStep, ...args: ConstructorParameters<typeof TubeletError>) {
    super(...args);
    this.step = step;
  }
}

/** The mount was not tried: the claim could not be resolved, or no plugin handles the volume. */
export class UnprocessedVolumeError extends TubeletError {}

/** A failure as events and statuses report it: an error with the whole text, and the reason of its event. */
export interface ReportedFailure {
  readonly error: TubeletError;
  readonly reason: string;
  readonly isUnprocessed: boolean;
}

/** Bounds the name in messages; valid names are shorter. */
const maxNameBytes = 1_024;

/** `name` is that of the PersistentVolume where there is one, else the name in the pod. */
export function reportedFailure(name: string, error: unknown): ReportedFailure {
  if (error instanceof UnprocessedVolumeError) {
    const short = new TubeletError(error.kind, cutText(error.message), { cause: error });
    return { error: short, reason: volumeEvents.failedMount, isUnprocessed: true };
  }
  const step = error instanceof VolumeStepError ? error.step : 'MountVolume.SetUp failed';
  const message = cutText(`${step} for volume "${cutText(name, maxNameBytes)}" : ${describeError(error)}`);
  return {
    error: new TubeletError(kindOf(error), message, { cause: error }),
    reason: step.startsWith('MapVolume') ? volumeEvents.failedMapVolume : volumeEvents.failedMount,
    isUnprocessed: false,
  };
}
