import { grpcErrorText, describeError, kindOf, TubeletError } from '../../base/errors.ts';
import type { VolumePlace } from '../ports.ts';
import { VolumeStepError, type VolumeStep } from '../volume-failures.ts';

/** A driver's error with its code, any other error with its causes. */
function wordsOfStep(error: unknown): string {
  const hasCode = error instanceof TubeletError && error.code !== undefined;
  return hasCode ? grpcErrorText(error) : describeError(error);
}

export function asStep(step: VolumeStep, error: unknown): VolumeStepError {
  const code = error instanceof TubeletError ? error.code : undefined;
  return new VolumeStepError(step, kindOf(error), wordsOfStep(error), { ...(code !== undefined && { code }) });
}

/** Failures carry the step; an abort is thrown as it is. */
export async function inStep<T>(step: VolumeStep, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw asStep(step, error);
  }
}

export function notUnmapped({ uid, name }: VolumePlace, error: unknown): TubeletError {
  const message = `UnmapVolume.UnmapPodDevice failed for volume "${name}" of pod ${uid}: ${wordsOfStep(error)}`;
  return new TubeletError(kindOf(error), message, { cause: error });
}
