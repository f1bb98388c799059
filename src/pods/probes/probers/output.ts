import { cutBytes, maxMessageBytes } from '../../../base/cut-text.ts';

/** What a container answered, as far as it is kept: it ends up in an event. */
export function outputText(...parts: readonly Uint8Array[]): string {
  return cutBytes(maxMessageBytes, ...parts);
}
