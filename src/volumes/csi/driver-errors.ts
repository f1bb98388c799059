import { TubeletError } from '../../base/errors.ts';

/** The driver may have done it, be doing it, or do it still. */
const uncertainCodes: ReadonlySet<string> = new Set([
  'Canceled',
  'DeadlineExceeded',
  'Unavailable',
  'ResourceExhausted',
  'Aborted',
]);

/**
 * Whether nobody knows what became of a call: what it should have made must be taken down later all the same. An error
 * without a code is not the driver's word on the matter, and an earlier call may still be at work.
 */
export function isUncertain(error: unknown): boolean {
  const code = error instanceof TubeletError ? error.code : undefined;
  return code === undefined || uncertainCodes.has(code);
}

export function notRegistered(name: string): TubeletError {
  return new TubeletError('unavailable', `driver name ${name} not found in the list of registered CSI drivers`);
}

/** The driver knows of no such volume. Where nothing is mounted, that is as good as having it taken down. */
export function isUnknownVolume(error: unknown): boolean {
  return error instanceof TubeletError && error.code === 'NotFound';
}
