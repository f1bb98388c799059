import type { CommonPorts } from '../model/common-ports.ts';
import type { Component } from '../base/component.ts';
import type { PodUid } from '../base/ids.ts';
import { ContainerGc, type ContainerGcDeps, type GcPolicy } from './container-gc/index.ts';
import type { PodSignals } from './create-signals.ts';
import type { PodStores } from './create-stores.ts';
import {
  containerLogsOf,
  LogLinks,
  LogRotation,
  type LinkFiles,
  type LogFiles,
  type LogRotationDeps,
  type LogSettings,
  type LogWatch,
} from './logs/index.ts';

/** Limits of container logs, and how many dead containers are kept. */
export interface LogPolicy {
  readonly limits: LogSettings;
  readonly podLogsDir: string;
  /** Where links to the logs of all pods are made; log collectors read that folder only where logs have their usual place. */
  readonly linksDir: string | undefined;
  readonly deadContainers: GcPolicy;
}

export interface LogsParts {
  readonly ports: CommonPorts;
  readonly signals: Pick<PodSignals, 'statusChanged'>;
  readonly stores: Pick<PodStores, 'observed' | 'desired'>;
  readonly runtime: LogRotationDeps['runtime'] & ContainerGcDeps['runtime'];
  readonly files: LogFiles & LogWatch & LinkFiles;
  readonly policy: LogPolicy;
}

interface Logs {
  readonly components: readonly Component[];
  /** Removes all files of a container's log. */
  readonly remover: { remove(path: string): Promise<void> };
}

/** Rotation of logs, links to them, and the removal of dead containers with their logs. */
export function createLogs({ ports, signals, stores, runtime, files, policy }: LogsParts): Logs {
  const { observed, desired } = stores;
  const of = (uid: PodUid): ReturnType<typeof containerLogsOf> => {
    const pod = observed.get(uid);
    return pod === undefined ? [] : containerLogsOf(pod);
  };
  const logs = { of, all: () => [...observed.listed().keys()].flatMap(of) };
  const rotation = new LogRotation({ ...ports, logs, files, watch: files, runtime, limits: policy.limits });
  const { linksDir, podLogsDir } = policy;
  const links = linksDir === undefined ? [] : [new LogLinks({ ...ports, logs, files, folder: linksDir, podLogsDir })];
  const containerGc = new ContainerGc({
    ...ports,
    runtime,
    logs: rotation,
    policy: policy.deadContainers,
    pods: {
      inspect: (uid, signal) => observed.inspect(uid, signal),
      existing: () =>
        desired.all().flatMap(({ uid }) => {
          const pod = observed.get(uid);
          return pod === undefined ? [] : [{ observed: pod, contentRemovable: false }];
        }),
    },
    onFailed: (message) => ports.log.warn('Container garbage collection failed', { err: message }),
  });
  const followers = [rotation, ...links];
  signals.statusChanged.listen((uid) => {
    for (const follower of followers) follower.changed(uid);
  });
  return { components: [...followers, containerGc], remover: rotation };
}
