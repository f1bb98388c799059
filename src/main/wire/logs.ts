import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Cri } from '../../cri/index.ts';
import { ContainerGc, type GcPolicy } from '../../pods/container-gc/index.ts';
import type { DesiredPods } from '../../pods/desired/index.ts';
import {
  containerLogsOf,
  LogLinks,
  LogRotation,
  type LinkFiles,
  type LogFiles,
  type LogSettings,
  type LogWatch,
} from '../../pods/logs/index.ts';
import type { ObservedPods } from '../../pods/pleg/index.ts';

/** What containers write, and how much of it and of them is kept. */
export interface LogKeeping {
  readonly files: LogFiles & LogWatch & LinkFiles;
  readonly limits: LogSettings;
  /** Where links to the logs of all pods are made; none without it. */
  readonly linksDir?: string;
}

export interface LogsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly heartbeats: Heartbeats;
  readonly log: Log;
  readonly cri: Pick<Cri, 'removeContainer' | 'removePodSandbox' | 'reopenContainerLog'>;
  readonly observed: ObservedPods;
  readonly desired: DesiredPods;
  readonly keeping: LogKeeping | undefined;
  readonly podLogsDir: string;
  readonly policy: GcPolicy;
}

export interface WiredLogs {
  readonly components: readonly Component[];
  /** Containers of the pod came or went. */
  changed(uid: PodUid): void;
  /** Removes all files of a container's log. */
  readonly remover: { remove(path: string): Promise<void> };
}

export function wireLogs(deps: LogsDeps): WiredLogs {
  const { clock, random, log, heartbeats, cri, observed, desired, keeping, policy } = deps;
  const of = (uid: PodUid): ReturnType<typeof containerLogsOf> => {
    const pod = observed.get(uid);
    return pod === undefined ? [] : containerLogsOf(pod);
  };
  const logs = { of, all: () => [...observed.listed().keys()].flatMap(of) };
  const common = { clock, random, log, heartbeats, logs };
  const rotation =
    keeping &&
    new LogRotation({ ...common, files: keeping.files, watch: keeping.files, runtime: cri, limits: keeping.limits });
  const links =
    keeping?.linksDir === undefined
      ? undefined
      : new LogLinks({ ...common, files: keeping.files, folder: keeping.linksDir, podLogsDir: deps.podLogsDir });
  const remover = rotation ?? { remove: async () => {} };
  const gc = new ContainerGc({
    clock,
    random,
    log,
    heartbeats,
    runtime: cri,
    logs: remover,
    policy,
    pods: {
      look: (uid, signal) => observed.look(uid, signal),
      existing: () =>
        desired.all().flatMap(({ uid }) => {
          const pod = observed.get(uid);
          return pod === undefined ? [] : [{ observed: pod, contentRemovable: false }];
        }),
    },
    onFailed: (message) => log.warn('Container garbage collection failed', { message }),
  });
  return {
    components: [rotation, links, gc].filter((component) => component !== undefined),
    changed(uid) {
      rotation?.changed(uid);
      links?.changed(uid);
    },
    remover,
  };
}
