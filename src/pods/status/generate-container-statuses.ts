import { cutText } from '../../base/cut-text.ts';
import type { ContainerId } from '../../base/ids.ts';
import type {
  Container,
  ContainerState,
  ContainerStateTerminated,
  ContainerStatus,
  ContainerUser,
  VolumeMountStatus,
} from '../../gen/kubernetes/types.ts';
import { apiTime } from '../../model/api-time.ts';
import { isRestartableInit, type ContainerKind } from '../../model/containers.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedContainer, ObservedUser } from '../../model/observed-pod.ts';
import { endReasons, podMessages, startReasons } from '../../model/reasons.ts';
import type { StartError } from '../../model/refusal.ts';
import { computeRestart } from '../../model/restart-policy.ts';
import { resourcesInForce } from './resources-in-force.ts';

/** Answers of the probes about one container instance. */
export interface ProbeAnswers {
  ready(containerName: string, id: ContainerId): boolean;
  started(containerName: string, id: ContainerId): boolean;
}

/** Feature gates that decide what a status says. */
export interface StatusFeatures {
  /** ContainerRestartRules: containers may have restart policies and rules of their own. */
  readonly ownRestartRules: boolean;
  /** ContainerStopSignals: the status shows the signal that stops a container. */
  readonly stopSignals: boolean;
  /** SupplementalGroupsPolicy: the status shows the user that a container runs as. */
  readonly users: boolean;
}

export interface ContainerStatusesInput {
  readonly pod: DesiredPod;
  readonly kind: ContainerKind;
  readonly containers: readonly Container[];
  /** Newest first. */
  readonly observed: readonly ObservedContainer[];
  readonly previous: readonly ContainerStatus[];
  readonly startErrors: ReadonlyMap<string, StartError>;
  readonly probes: ProbeAnswers;
  readonly runtimeName: string;
  readonly recursiveReadOnly: boolean;
  readonly features: StatusFeatures;
}

const completedContainer: ContainerStateTerminated = {
  exitCode: 0,
  reason: endReasons.completed,
  message: podMessages.initPassed,
};

/** Exit code of a container whose end the agent did not see: as if it had been killed. */
const lostExitCode = 137;

/** The statuses of one kind of containers: init containers in the order of the spec, others by name. */
export function generateContainerStatuses(input: ContainerStatusesInput): ContainerStatus[] {
  const statuses = input.containers.map((container) => statusOf(input, container));
  return input.kind === 'init' ? statuses : statuses.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A container whose end the agent did not see. */
export function lostContainer(message: string): ContainerStateTerminated {
  return { exitCode: lostExitCode, reason: endReasons.containerStatusUnknown, message };
}

function statusOf(input: ContainerStatusesInput, container: Container): ContainerStatus {
  const previous = input.previous.find((status) => status.name === container.name);
  const [newest, older] = input.observed.filter(({ name }) => name === container.name);
  const base =
    newest === undefined
      ? statusWithoutInstance(input, container, previous)
      : statusOfInstance(input, container, previous, newest, older);
  return withProbes(input, container, withStartError(input, container, newest, base), newest);
}

/** The runtime has no such container: it was not created yet, it ended and was removed, or it was lost. */
function statusWithoutInstance(
  input: ContainerStatusesInput,
  container: Container,
  previous: ContainerStatus | undefined,
): ContainerStatus {
  if (previous?.state?.terminated !== undefined) return previous;
  const completed = hasCompleted(input, container);
  const hasInit = (input.pod.spec.initContainers ?? []).length > 0;
  const reason = hasInit ? startReasons.podInitializing : startReasons.containerCreating;
  const lost = previous?.state?.running !== undefined && previous.lastState?.terminated === undefined;
  // A container that ran is not new: without a lastState the pod would look as if it had never started.
  const lastState = lost ? { terminated: lostContainer(podMessages.lostWhenDeleted) } : (previous?.lastState ?? {});
  const restarted = lost && input.pod.metadata.deletionTimestamp === undefined ? 1 : 0;
  return {
    name: container.name,
    state: completed ? { terminated: completedContainer } : { waiting: { reason } },
    lastState: completed ? {} : lastState,
    ready: false,
    restartCount: (previous?.restartCount ?? 0) + restarted,
    image: cutText(container.image ?? '', maxImageBytes),
    imageID: '',
    ...volumeMounts(input, container),
  };
}

/** An init container that was removed has completed if a container after it has started. */
function hasCompleted({ kind, pod, observed }: ContainerStatusesInput, container: Container): boolean {
  if (kind !== 'init' || isRestartableInit(container)) return false;
  const { initContainers = [], containers } = pod.spec;
  const later = initContainers.slice(initContainers.indexOf(container) + 1).map(({ name }) => name);
  const regular = new Set(containers.map(({ name }) => name));
  return observed.some(
    ({ name, state }) => (state === 'running' && regular.has(name)) || (state !== 'created' && later.includes(name)),
  );
}

function statusOfInstance(
  input: ContainerStatusesInput,
  container: Container,
  previous: ContainerStatus | undefined,
  newest: ObservedContainer,
  older: ObservedContainer | undefined,
): ContainerStatus {
  const { users, stopSignals } = input.features;
  return {
    name: container.name,
    state: stateOf(input, newest, previous),
    lastState: older === undefined ? lastStateOf(input, newest, previous) : stateOf(input, older, previous),
    ready: false,
    restartCount: restartCountOf(newest, older, previous) + (isLost(newest, previous) ? 1 : 0),
    image: newest.image,
    imageID: newest.imageRef,
    containerID: fullId(input, newest),
    resources: resourcesInForce(container, newest),
    ...(container.resources?.requests !== undefined && { allocatedResources: container.resources.requests }),
    ...(users && newest.user && { user: userOf(newest.user) }),
    ...(stopSignals && newest.stopSignal !== undefined && { stopSignal: newest.stopSignal }),
    ...volumeMounts(input, container),
  };
}

function userOf({ uid, gid, supplementalGroups }: ObservedUser): ContainerUser {
  return { linux: { uid, gid, ...(supplementalGroups.length > 0 && { supplementalGroups }) } };
}

/** The lastState stays when its instance was removed from the runtime; a pod that is being deleted shows what is there. */
function lastStateOf(
  input: ContainerStatusesInput,
  newest: ObservedContainer,
  previous: ContainerStatus | undefined,
): ContainerState {
  const isSame = previous?.containerID === fullId(input, newest) && previous.state?.waiting === undefined;
  return isSame && input.pod.metadata.deletionTimestamp === undefined ? (previous.lastState ?? {}) : {};
}

/**
 * The count never goes back, whatever instances the runtime has. One that was created but never started is no restart yet,
 * and may still be removed.
 */
function restartCountOf(
  newest: ObservedContainer,
  older: ObservedContainer | undefined,
  previous: ContainerStatus | undefined,
): number {
  const counted = newest.state === 'created' && older !== undefined ? older : newest;
  return Math.max(counted.attempt, previous?.restartCount ?? 0);
}

function stateOf(
  input: ContainerStatusesInput,
  observed: ObservedContainer,
  previous: ContainerStatus | undefined,
): ContainerState {
  if (observed.state === 'running') return { running: { startedAt: apiTime(observed.startedAt) } };
  if (observed.state === 'exited') return { terminated: terminatedState(input, observed) };
  return isLost(observed, previous) ? { terminated: lostContainer(podMessages.lostWhenTerminated) } : { waiting: {} };
}

/** A container that ran and that the runtime lost track of has ended, it is unknown how; one that was only created waits. */
function isLost({ state }: ObservedContainer, previous: ContainerStatus | undefined): boolean {
  return state === 'unknown' && previous?.state?.running !== undefined;
}

function terminatedState(input: ContainerStatusesInput, observed: ObservedContainer): ContainerStateTerminated {
  return {
    exitCode: observed.exitCode,
    ...(observed.reason !== '' && { reason: observed.reason }),
    ...(observed.message !== '' && { message: observed.message }),
    startedAt: apiTime(observed.startedAt),
    finishedAt: apiTime(observed.finishedAt),
    containerID: fullId(input, observed),
  };
}

/** A container that is to start again but cannot is waiting, with the reason; how it ended moves into its lastState. */
function withStartError(
  input: ContainerStatusesInput,
  container: Container,
  newest: ObservedContainer | undefined,
  status: ContainerStatus,
): ContainerStatus {
  const error = input.startErrors.get(container.name);
  if (error === undefined || !startsAgain(input, container, newest)) return status;
  return {
    ...status,
    lastState: status.state?.terminated === undefined ? (status.lastState ?? {}) : status.state,
    state: { waiting: { reason: error.reason, ...(error.message !== '' && { message: error.message }) } },
  };
}

function startsAgain(
  input: ContainerStatusesInput,
  container: Container,
  newest: ObservedContainer | undefined,
): boolean {
  if (input.pod.metadata.deletionTimestamp !== undefined) return false;
  if (newest === undefined || newest.state === 'created' || newest.state === 'unknown') return true;
  if (newest.state === 'running' || input.kind === 'ephemeral') return false;
  // Sidecars too, although they start again: an exit with code 0 needs no reason.
  if (input.kind === 'init' && newest.exitCode === 0) return false;
  const podPolicy = input.pod.spec.restartPolicy;
  return computeRestart({ container, podPolicy, ended: newest, ownRules: input.features.ownRestartRules });
}

function withProbes(
  input: ContainerStatusesInput,
  container: Container,
  status: ContainerStatus,
  newest: ObservedContainer | undefined,
): ContainerStatus {
  if (input.kind === 'ephemeral') return status;
  const id = status.state?.running === undefined ? undefined : newest?.id;
  const started = id !== undefined && input.probes.started(container.name, id);
  if (input.kind === 'init' && !isRestartableInit(container)) {
    return { ...status, started, ready: status.state?.terminated?.exitCode === 0 };
  }
  return { ...status, started, ready: started && input.probes.ready(container.name, id) };
}

/** Registries take no longer names. */
const maxImageBytes = 4_096;
/** Limits of volume names and of paths on Linux: a longer one cannot be mounted, and every watcher would get a copy. */
const maxNameLength = 253;
const maxPathLength = 4_096;

function volumeMounts(
  input: ContainerStatusesInput,
  container: Container,
): { readonly volumeMounts?: readonly VolumeMountStatus[] } {
  const mounts = (container.volumeMounts ?? []).filter(
    ({ name, mountPath }) => name.length <= maxNameLength && mountPath.length < maxPathLength,
  );
  if (mounts.length === 0) return {};
  return {
    volumeMounts: mounts.map(({ name, mountPath, readOnly, recursiveReadOnly }) => {
      if (readOnly !== true) return { name, mountPath };
      const recursive = input.recursiveReadOnly && (recursiveReadOnly ?? 'Disabled') !== 'Disabled';
      return { name, mountPath, readOnly, recursiveReadOnly: recursive ? 'Enabled' : 'Disabled' };
    }),
  };
}

function fullId(input: ContainerStatusesInput, observed: ObservedContainer): string {
  return `${input.runtimeName}://${observed.id}`;
}
