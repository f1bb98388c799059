import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import { Masked } from '../../base/masked.ts';
import { systemRandom } from '../../base/system-random.ts';
import type { Settings } from '../../config/index.ts';
import { nodeFiles, nodeHttp } from '../../host/index.ts';
import type { PodSource } from '../../model/desired-pod.ts';
import { FileSource, HttpSource } from '../../pods/sources/index.ts';
import type { PodMachine } from './pod-machine.ts';

export interface SourcesDeps {
  readonly settings: Settings;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
}

/** The sources that are configured, and so must speak before anything is cleaned up. */
export function sourcesOf({ config, flags }: Settings): readonly PodSource[] {
  const sources: readonly (readonly [PodSource, string])[] = [
    ['file', config.staticPodPath],
    ['http', config.staticPodURL],
    ['api', flags.kubeconfig],
  ];
  return sources.filter(([, where]) => where !== '').map(([source]) => source);
}

export function wireSources(
  { settings, nodeName, clock, log, heartbeats }: SourcesDeps,
  machine: Pick<PodMachine, 'set' | 'setObjects'>,
): readonly Component[] {
  const { config, flags, featureGates } = settings;
  const common = {
    clock,
    log,
    nodeName,
    preventApiReferences: featureGates.enabled('PreventStaticPodAPIReferences'),
    rules: { containerRestartRules: featureGates.enabled('ContainerRestartRules') },
    onSet: (source: PodSource, pods: Parameters<PodMachine['set']>[1]) => machine.set(source, pods),
  };
  const components: Component[] = [];
  if (config.staticPodPath !== '') {
    components.push(
      new FileSource({
        ...common,
        files: nodeFiles,
        path: config.staticPodPath,
        fileCheckFrequencyMs: config.fileCheckFrequency.toMillis(),
        // With an API server, objects are the cluster's; a folder must not shadow them.
        allowFolderObjects: flags.kubeconfig === '',
        onObjects: (objects) => machine.setObjects(objects),
      }),
    );
  }
  if (config.staticPodURL !== '') {
    components.push(
      new HttpSource({
        ...common,
        random: systemRandom(),
        heartbeats,
        client: nodeHttp,
        url: config.staticPodURL,
        headers: new Masked(config.staticPodURLHeader ?? {}),
        httpCheckFrequencyMs: config.httpCheckFrequency.toMillis(),
      }),
    );
  }
  return components;
}
