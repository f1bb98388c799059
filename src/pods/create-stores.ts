import type { CommonPorts } from '../model/common-ports.ts';
import type { DesiredPod, PodSource } from '../model/desired-pod.ts';
import type { PodPaths } from '../model/pod-paths.ts';
import { podEvents } from '../model/event-reasons.ts';
import type { ObjectEvent } from '../model/object-event.ts';
import { ActivePods } from './active-pods.ts';
import { Allocations } from './allocation/index.ts';
import type { PodSignals } from './create-signals.ts';
import { DesiredPods, MirrorPods } from './desired/index.ts';
import { podsOnDisk, type Files } from './directories/index.ts';
import { ObservedPods, type ObservableRuntime } from './pleg/index.ts';
import { withTerminationMessages, type TerminationMessageFiles } from './runtime/index.ts';
import { PodSources } from './sources/index.ts';
import { PodStarts, PodStatuses, ShutdownEnds } from './status/index.ts';
import { UnknownPods } from './unknown-pods.ts';
import { PodLifecycles } from './worker/index.ts';

interface PodStoresParts {
  readonly ports: CommonPorts;
  readonly signals: PodSignals;
  readonly runtime: ObservableRuntime;
  readonly terminationMessages: TerminationMessageFiles;
  readonly files: Files;
  readonly paths: PodPaths;
  readonly shuttingDown: () => boolean;
  /** The sources that must be read once before anything is cleaned up. */
  readonly sources: readonly PodSource[];
  readonly events: {
    record(pod: DesiredPod, event: ObjectEvent): void;
  };
}

/**
 * The stores of pods, each with one writer: sources write `sources`, the sync loop `desired`, the pleg `observed`,
 * workers `lifecycles`, the status publisher `statuses`. They exist before the components that read them.
 */
export interface PodStores {
  readonly sources: PodSources;
  readonly allocations: Allocations;
  readonly desired: DesiredPods;
  readonly observed: ObservedPods;
  readonly lifecycles: PodLifecycles;
  readonly statuses: PodStatuses;
  /** Mirror pods of static pods; none without an API server. */
  readonly mirrors: MirrorPods;
  readonly starts: PodStarts;
  readonly activePods: ActivePods;
  readonly unknownPods: UnknownPods;
}

/** What is known of pods, for the program and its tests to read. */
export interface PodStoreViews {
  readonly sources: Pick<PodSources, 'sourcesReady'>;
  readonly desired: Pick<DesiredPods, 'get' | 'has' | 'all'>;
  readonly lifecycles: Pick<PodLifecycles, 'knows' | 'stateOf' | 'isFinished'>;
  readonly statuses: Pick<PodStatuses, 'get' | 'all' | 'versionOf'>;
}

export function createPodStores({ ports, signals, ...parts }: PodStoresParts): PodStores {
  const { clock, log } = ports;
  const { inbox, podRemoval, statusChanged, statusForgotten } = signals;
  const allocations = new Allocations(log);
  const statuses = new PodStatuses(
    (uid) => statusChanged.broadcast(uid),
    (uid) => statusForgotten.broadcast(uid),
  );
  const shutdownEnds = new ShutdownEnds({ statuses, shuttingDown: parts.shuttingDown });
  const sources = new PodSources({
    clock,
    log,
    configured: parts.sources,
    onUpdate: (update) => {
      shutdownEnds.forget(update.pods);
      inbox.configChanged(allocations.update(update));
    },
    recordDuplicate: (pod, message) =>
      parts.events.record(pod, { type: 'Warning', reason: podEvents.failedValidation, message }),
  });
  const desired = new DesiredPods();
  const observed = new ObservedPods({
    runtime: withTerminationMessages(parts.runtime, parts.terminationMessages, log),
  });
  const lifecycles = new PodLifecycles();
  const starts = new PodStarts(ports);
  const activePods = new ActivePods({ desired, lifecycles, statuses });
  const directories = { uids: () => podsOnDisk(parts.files, parts.paths) };
  const unknownPods = new UnknownPods({ sources, desired, lifecycles, observed, directories });
  podRemoval.register('statuses', statuses);
  podRemoval.register('starts', starts);
  podRemoval.registerSelfEnding('allocations', allocations);
  podRemoval.registerSelfEnding('desired', desired);
  podRemoval.registerSelfEnding('observed', observed);
  podRemoval.registerSelfEnding('lifecycles', lifecycles);
  const mirrors = new MirrorPods();
  return { mirrors, sources, allocations, desired, observed, lifecycles, statuses, starts, activePods, unknownPods };
}
