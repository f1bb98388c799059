import type { CommonPorts } from '../model/common-ports.ts';
import type { Component } from '../base/component.ts';
import type { DesiredPod, PodSource } from '../model/desired-pod.ts';
import type { StandaloneObject } from '../model/standalone-object.ts';
import {
  FileSource,
  HttpSource,
  type FileSourceDeps,
  type Files,
  type HttpClient,
  type HttpHeaders,
} from './sources/index.ts';

/** Where static pods come from, as the configuration has it. */
export interface StaticSources {
  readonly rules: Pick<FileSourceDeps, 'nodeName' | 'preventApiReferences' | 'rules'>;
  readonly file:
    | {
        readonly path: string;
        readonly checkFrequencyMs: number;
        /** Without an API server the folder may have ConfigMaps and Secrets; with one they would shadow the cluster's. */
        readonly allowObjects: boolean;
      }
    | undefined;
  readonly http: { readonly url: string; readonly headers: HttpHeaders; readonly checkFrequencyMs: number } | undefined;
}

export interface SourcesParts {
  readonly ports: CommonPorts;
  readonly settings: StaticSources;
  readonly host: { readonly files: Files; readonly http: HttpClient };
  /** Takes the full set of a source. */
  readonly pods: { set(source: PodSource, pods: readonly DesiredPod[]): void };
  /** Takes the ConfigMaps and Secrets of the folder. */
  readonly objects: { set(objects: readonly StandaloneObject[]): void };
}

/** The sources of static pods; pods of the API server come through `createApiPods`. */
export function createSources({ ports, settings, host, pods, objects }: SourcesParts): readonly Component[] {
  const { file, http, rules } = settings;
  const onSet = (source: PodSource, set: readonly DesiredPod[]): void => pods.set(source, set);
  const common = { ...ports, ...rules, onSet };
  return [
    ...(file === undefined
      ? []
      : [
          new FileSource({
            ...common,
            files: host.files,
            path: file.path,
            fileCheckFrequencyMs: file.checkFrequencyMs,
            allowFolderObjects: file.allowObjects,
            onObjects: (found) => objects.set(found),
          }),
        ]),
    ...(http === undefined
      ? []
      : [
          new HttpSource({
            ...common,
            client: host.http,
            url: http.url,
            headers: http.headers,
            httpCheckFrequencyMs: http.checkFrequencyMs,
          }),
        ]),
  ];
}
