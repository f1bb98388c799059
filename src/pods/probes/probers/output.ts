/** More than this of what a container says is not kept: it ends up in an event. */
export const mostOutputBytes = 10 * 1_024;

export function outputText(...parts: readonly Uint8Array[]): string {
  return Buffer.concat(parts).subarray(0, mostOutputBytes).toString('utf8');
}
