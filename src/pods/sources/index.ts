export { ApiSource } from './api-source.ts';
export { FileSource, type FileSourceDeps } from './file-source.ts';
export { StaticPodHold } from './static-pod-hold.ts';
export { HttpSource } from './http-source.ts';
export { PodSources } from './merge-sources.ts';
export type { Files, HttpClient, HttpHeaders } from './ports.ts';
