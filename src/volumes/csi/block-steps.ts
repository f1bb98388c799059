import { grpcErrorText, describeError, kindOf, TubeletError } from '../../base/errors.ts';
import type { VolumePlace } from '../ports.ts';
import { VolumeStepError, type VolumeStep } from '../volume-failures.ts';

/** The words of a driver with its code, and of anybody else with what is behind them. */
function wordsOfStep(error: unknown): string {
  const hasCode = error instanceof TubeletError && error.code !== undefined;
  return hasCode ? grpcErrorText(error) : describeError(error);
}

export function asStep(step: VolumeStep, error: unknown): VolumeStepError {
  const code = error instanceof TubeletError ? error.code : undefined;
  return new VolumeStepError(step, kindOf(error), wordsOfStep(error), { ...(code !== undefined && { code }) });
}

/** Failures carry the step; what was given up is thrown as that. */
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
