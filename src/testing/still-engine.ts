import type { EngineMeter } from '../telemetry/engine-meter.ts';

/** An engine of which nothing is measured: an agent on virtual time that is killed leaves no timer and no observer behind. */
export const stillEngine: EngineMeter = {
  beats: () => ({
    enable: () => true,
    disable: () => true,
    reset: () => {},
    percentile: () => 0,
    count: 0,
    mean: 0,
    max: 0,
  }),
  watchCollections: () => () => {},
};
