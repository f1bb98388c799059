import { setFlagsFromString } from 'node:v8';

/** Known to the engine of the Node that this runs on, or a test says so. */
export const seldomFlag = '--gc-memory-reducer-start-delay-ms=60000';

/**
 * Eight seconds after some work the engine collects garbage up to three times over, to give memory back: whoever asks for
 * figures every ten seconds would pay for that with each page. A minute after is soon enough. It is set here and not on the
 * command line because an engine that does not know the setting goes on without it, where node itself would not start.
 */
export function giveBackMemorySeldom(): void {
  setFlagsFromString(seldomFlag);
}
