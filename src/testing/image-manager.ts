import type { ImageMetrics } from '../images/image-metrics.ts';
import { noDecisions } from './no-decisions.ts';
import { ImageManager, noPullRecords, type ImageManagerDeps } from '../images/index.ts';

/** Nothing to show to any registry. */
const noCredentials: ImageManagerDeps['credentials'] = {
  of: () => ({ missing: [], find: async () => ({ credentials: [], problems: [] }) }),
};

export const noImageMetrics: ImageMetrics = {
  pulled: () => {},
  pluginRan: () => {},
  pluginFailed: () => {},
};

type Needed = 'clock' | 'service' | 'events';

/** One pull at a time at any rate, nothing to show to registries, and images that are there are everybody's, unless told. */
export function anImageManager(deps: Pick<ImageManagerDeps, Needed> & Partial<ImageManagerDeps>): ImageManager {
  return new ImageManager({
    decisions: noDecisions,
    parallelPulls: 1,
    pullRate: { perSecond: 0, burst: 0 },
    credentials: noCredentials,
    records: noPullRecords,
    metrics: noImageMetrics,
    pulls: { began: () => {}, ended: () => {} },
    ...deps,
  });
}
