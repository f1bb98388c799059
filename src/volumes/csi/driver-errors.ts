import { TubeletError } from '../../base/errors.ts';

/** The driver may have finished the call, or may still do it. */
const uncertainCodes: ReadonlySet<string> = new Set([
  'Canceled',
  'DeadlineExceeded',
  'Unavailable',
  'ResourceExhausted',
  'Aborted',
]);

/**
 * Whether the outcome of a call is unknown: then tearDown must undo it all the same. An error without a code did not come
 * from the driver, and an earlier call may still be running.
 */
export function isUncertain(error: unknown): boolean {
  const code = error instanceof TubeletError ? error.code : undefined;
  return code === undefined || uncertainCodes.has(code);
}

export function notRegistered(name: string): TubeletError {
  return new TubeletError('unavailable', `driver name ${name} not found in the list of registered CSI drivers`);
}

/** The driver knows no such volume. Where nothing is mounted, the volume counts as torn down. */
export function isUnknownVolume(error: unknown): boolean {
  return error instanceof TubeletError && error.code === 'NotFound';
}
