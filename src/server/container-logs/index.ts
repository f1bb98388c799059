export type { ContainerLogFiles, LogSources } from './ports.ts';
