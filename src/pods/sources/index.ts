export { ApiSource, type ApiSourceDeps } from './api-source.ts';
export { FileSource, type FileSourceDeps } from './file-source.ts';
export { HeldSets, type HeldSetsDeps } from './held-sets.ts';
export { HttpSource, type HttpSourceDeps } from './http-source.ts';
export type { Contents, Finding, Manifest, ManifestOptions } from './manifest.ts';
export { computeUpdates, PodSources, type KnownPods, type Merged, type PodSourcesDeps } from './merge-sources.ts';
export type { FileInfo, Files, HttpAnswer, HttpClient, HttpHeaders } from './ports.ts';
export { readManifest } from './read-manifest.ts';
