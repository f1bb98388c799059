export { type StatsHost, type StatsParts, type StatsRootSettings } from './create-stats.ts';
export type { PodVolume, SeenPod } from './ports.ts';
export { scrapedUsage } from './scraped-usage.ts';
export type { StatsDeps, StatsSettings } from './stats-deps.ts';
export { Stats } from './stats.ts';
