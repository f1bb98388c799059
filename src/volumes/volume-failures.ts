import { cutText } from '../base/cut-text.ts';
import { describeError, kindOf, TubeletError } from '../base/errors.ts';
import { volumeEvents } from '../model/event-reasons.ts';

/** A failure that knows at which step of the way it came. People search for the words of these steps. */
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

/** Nobody got as far as mounting it: what the volume is could not be found out, or nobody here can mount it. */
export class UnprocessedVolumeError extends TubeletError {}

/** A failure as it is told: an error with the whole text, and the reason of its event. */
export interface ReportedFailure {
  readonly error: TubeletError;
  readonly reason: string;
  readonly isUnprocessed: boolean;
}

/** A volume of a longer name is none. */
const maxNameBytes = 1_024;

/** `name` is what the volume is called on this node: that of the PersistentVolume where there is one. */
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
