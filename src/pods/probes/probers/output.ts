import { cutBytes, maxMessageBytes } from '../../../base/cut-text.ts';

/** The answer of a container, cut to the length of an event message. */
export function outputText(...parts: readonly Uint8Array[]): string {
  return cutBytes(maxMessageBytes, ...parts);
}
