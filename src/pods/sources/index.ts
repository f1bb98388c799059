export { FileSource, type FileSourceDeps } from './file-source.ts';
export { computeUpdates, PodSources, type KnownPods, type Merged, type PodSourcesDeps } from './merge-sources.ts';
export { nodeFiles } from './node-files.ts';
export type { FileInfo, Files } from './ports.ts';
export { readManifest, type Finding, type Manifest, type ManifestOptions } from './read-manifest.ts';
