import type { ImageMetrics } from '../images/image-metrics.ts';
import { noDecisions } from './no-decisions.ts';
import { ImageManager, noPullRecords, type ImageManagerDeps } from '../images/index.ts';

/** No credentials for any registry. */
const noCredentials: ImageManagerDeps['credentials'] = {
  of: () => ({ missing: [], find: async () => ({ credentials: [], problems: [] }) }),
};

export const noImageMetrics: ImageMetrics = {
  pulled: () => {},
  pluginRan: () => {},
  pluginFailed: () => {},
};

type Needed = 'clock' | 'service' | 'events';

/** Default: one pull at a time at any rate, no credentials, and every pod may use the images that are on the node. */
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
