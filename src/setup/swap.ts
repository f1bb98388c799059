import { TubeletError } from '../base/errors.ts';

/** Pure: /proc/swaps has a line of headings, then one for each area. */
export function isSwapOn(swaps: string | undefined): boolean {
  return swaps !== undefined && swaps.trim().split('\n').length > 1;
}

/** Pure. Swapped memory of pods is not accounted for, so a kubelet refuses to run there unless failSwapOn is off. */
export function requireSwap(swapOn: boolean, failSwapOn: boolean): void {
  if (!swapOn || !failSwapOn) return;
  const message = 'running with swap on is not supported, please disable swap or set --fail-swap-on flag to false';
  throw new TubeletError('unsupported', message);
}

/** Pure: since Linux 6.4 a tmpfs has the option `noswap`; some older kernels were given it as well. */
export function noSwapAnswer(kernelRelease: string, inUserNamespace: boolean): 'yes' | 'no' | 'try' {
  if (inUserNamespace) return 'no';
  const [major = 0, minor = 0] = kernelRelease.split(/[.-]/, 2).map(Number);
  return major > 6 || (major === 6 && minor >= 4) ? 'yes' : 'try';
}
