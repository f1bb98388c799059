import type { Component } from '../base/component.ts';
import { podPaths } from '../model/pod-paths.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import { runtimeHandlerFor } from '../model/runtime-class.ts';
import { computePrune } from './container-gc/index.ts';
import { createLogs } from './create-logs.ts';
import type { PodSignals } from './create-signals.ts';
import type { PodStores } from './create-stores.ts';
import { PodDirectories } from './directories/index.ts';
import { Pleg } from './pleg/index.ts';
import type { PodParts } from './create-parts.ts';
import { lastKnownIn, ProbeManager, probeMetrics } from './probes/index.ts';
import { PodRuntime, prepareContainer, RestartBackoff, StartErrors } from './runtime/index.ts';
import { UserNamespaces } from './userns/index.ts';

const relistPeriodMs = 1_000;

/** The components that act on sandboxes and containers, watch them, and keep files for them. */
export interface PodRuntimeComponents {
  readonly userNamespaces: UserNamespaces;
  readonly directories: PodDirectories;
  readonly pleg: Pleg;
  readonly probes: ProbeManager;
  readonly startErrors: StartErrors;
  readonly runtime: PodRuntime;
  readonly logComponents: readonly Component[];
  readonly recursiveReadOnly: (pod: DesiredPod) => boolean;
}

export function createPodRuntime(signals: PodSignals, stores: PodStores, parts: PodParts): PodRuntimeComponents {
  const { ports, settings, runtime: container, host, node, objects, images, volumes, subPaths } = parts;
  const { inbox, podRemoval } = signals;
  const { desired, observed, statuses } = stores;
  const paths = podPaths(settings.runtime.rootDir, settings.runtime.podLogsDir);
  const { cri } = container;

  const userNamespaces = new UserNamespaces({ ...ports, runtime: cri, paths, ...host.userNamespaces });
  const directories = new PodDirectories({
    ...ports,
    files: host.files,
    paths,
    beforeRemoval: (uid) => volumes.tearDown(uid),
    onRemoved: (uid) => userNamespaces.release(uid),
  });
  const pleg = new Pleg({
    ...ports,
    runtime: cri,
    observed,
    relistPeriodMs,
    podsOnDisk: () => directories.uids(),
    eventSources: container.eventSources,
    onChange: (uid) => inbox.observedChanged(uid),
  });
  const logs = createLogs({ ports, signals, stores, runtime: cri, files: host.logFiles, policy: settings.logs });
  const probes = new ProbeManager({
    ...ports,
    metrics: probeMetrics(ports.probeMetrics),
    ownRestartRules: settings.runtime.featureGates('ContainerRestartRules'),
    prober: host.prober,
    observations: {
      get: (uid) => observed.get(uid),
      podIp: (uid) => {
        const sandbox = observed.get(uid)?.sandboxes.find(({ state }) => state === 'ready');
        return sandbox?.network === 'node' ? node.ips()[0] : sandbox?.ips[0];
      },
    },
    lastKnown: (uid, name, id) => lastKnownIn(statuses.get(uid) ?? desired.get(uid)?.status, name, id),
    onChange: (uid) => inbox.probeChanged(uid),
  });
  const recursiveReadOnly = (pod: DesiredPod): boolean => {
    const choice = runtimeHandlerFor(pod, objects.runtimeClasses, container.handlers());
    return 'handler' in choice && container.recursiveReadOnly(choice.handler);
  };
  const startErrors = new StartErrors();
  const backoff = new RestartBackoff({ ...ports, limits: settings.restartLimits });
  const runtime = new PodRuntime({
    ...ports,
    runtime: cri,
    probes: probes.results,
    errors: startErrors,
    backoff,
    hooks: { requests: host.hookRequests },
    prepare: prepareContainer({
      images,
      volumes,
      subPaths,
      files: directories,
      lookup: objects.lookup,
      settings: settings.runtime,
      node: node.facts,
      hostIps: node.ips,
      recursiveReadOnly,
    }),
    volumes,
    prune: (seen) => computePrune(seen, settings.logs.deadContainers.maxPerContainer),
    logs: logs.remover,
    settings: settings.runtime,
    hostDns: host.dns,
    hostIps: node.ips,
    runtimeHandlers: () => container.handlers(),
    ...(objects.runtimeClasses && { runtimeClasses: objects.runtimeClasses }),
    networkError: () => container.networkError(),
    userNamespaces,
    exitEventsReliable: () => pleg.streamHealthy(),
  });

  podRemoval.register('probes', { forget: (uid) => probes.removePod(uid), size: () => probes.size() });
  podRemoval.register('start-errors', startErrors);
  podRemoval.register('restart-backoff', backoff);
  // Host ids go with the pod's directory, in which they are on record.
  podRemoval.registerSelfEnding('user-namespaces', userNamespaces);
  podRemoval.registerSelfEnding('directory-removals', directories);
  const { components: logComponents } = logs;
  return { userNamespaces, directories, pleg, probes, startErrors, runtime, logComponents, recursiveReadOnly };
}
