import type { Container, ContainerStatus, PodIP, PodStatus } from '../../gen/kubernetes/types.ts';
import { apiTime } from '../../model/api-time.ts';
import type { ContainerKind } from '../../model/containers.ts';
import { isStatic, type DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import { sortedPodIps } from '../../model/pod-ips.ts';
import { podQos } from '../../model/qos.ts';
import { isTerminalPhase, podPhases, type PodPhase } from '../../model/reasons.ts';
import type { ResizeRefusal, StartError } from '../../model/refusal.ts';
import type { DecidedEnd } from '../../model/sync-outcome.ts';
import { computePhase } from './compute-phase.ts';
import { generateConditions } from './generate-conditions.ts';
import { generateContainerStatuses } from './generate-container-statuses.ts';
import { resizeConditions } from './resize-conditions.ts';
import type { ProbeAnswers, StatusFeatures } from './generate-container-statuses.ts';

export interface PodStatusInput {
  readonly pod: DesiredPod;
  readonly observed: ObservedPod | undefined;
  /** What was generated last; without it the status of the pod object counts. */
  readonly previous: PodStatus | undefined;
  readonly startErrors: ReadonlyMap<string, StartError>;
  readonly probes: ProbeAnswers;
  /** The worker has ended every container and starts none again. */
  readonly terminal: boolean;
  readonly decided?: DecidedEnd;
  readonly runtimeName: string;
  readonly hostIps: readonly string[];
  readonly nowMs: number;
  readonly needsSandbox: boolean;
  readonly resizeRefusal?: ResizeRefusal | undefined;
  readonly recursiveReadOnly?: boolean;
  readonly features?: StatusFeatures;
}

const noFeatures: StatusFeatures = { ownRestartRules: false, stopSignals: false, users: false };

/** The status of a pod as the agent sees it now, also when `mergeStatus` will not publish its terminal phase yet. */
export function generatePodStatus(input: PodStatusInput): PodStatus {
  const { pod, nowMs } = input;
  const previous = input.previous ?? pod.status;
  const { spec } = pod;
  const init = statusesOf(input, 'init', spec.initContainers, previous.initContainerStatuses);
  const regular = statusesOf(input, 'regular', spec.containers, previous.containerStatuses);
  const ephemeral = statusesOf(input, 'ephemeral', spec.ephemeralContainers, previous.ephemeralContainerStatuses);
  const outcome = outcomeOf(input, previous, [...init, ...regular]);
  const generation = isStatic(pod) ? undefined : pod.metadata.generation;
  const conditions = generateConditions({
    spec,
    phase: outcome.phase,
    statuses: [...init, ...regular],
    needsSandbox: input.needsSandbox,
    apiConditions: pod.status.conditions ?? [],
    previous: previous.conditions ?? [],
    resize: resizeConditions({ refusal: input.resizeRefusal, phase: outcome.phase, previous, nowMs }),
    ...(input.decided?.disruption !== undefined && { disruption: input.decided.disruption }),
    observedGeneration: generation,
    nowMs,
  });
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    ...outcome,
    conditions,
    ...addresses(input, previous),
    startTime: previous.startTime ?? pod.status.startTime ?? apiTime(nowMs),
    ...(init.length > 0 && { initContainerStatuses: init }),
    containerStatuses: regular,
    ...(ephemeral.length > 0 && { ephemeralContainerStatuses: ephemeral }),
    qosClass: podQos(pod),
  };
}

function statusesOf(
  input: PodStatusInput,
  kind: ContainerKind,
  containers: readonly Container[] = [],
  previous: readonly ContainerStatus[] = [],
): ContainerStatus[] {
  return generateContainerStatuses({
    pod: input.pod,
    kind,
    containers,
    observed: input.observed?.containers ?? [],
    previous,
    startErrors: input.startErrors,
    probes: input.probes,
    runtimeName: input.runtimeName,
    recursiveReadOnly: input.recursiveReadOnly === true,
    features: input.features ?? noFeatures,
  });
}

interface Outcome {
  readonly phase: PodPhase;
  readonly reason?: string;
  readonly message?: string;
}

/** Phase with its reason. A terminal phase, known here or to the API server, stays; a decided end comes before containers. */
function outcomeOf(input: PodStatusInput, previous: PodStatus, statuses: readonly ContainerStatus[]): Outcome {
  const { pod, decided, terminal } = input;
  const announced = isTerminalPhase(pod.status.phase) ? pod.status.phase : undefined;
  if (decided !== undefined && announced === undefined) {
    const { reason, message, keepsSucceeded = false } = decided;
    const succeeded = keepsSucceeded && previous.phase === podPhases.succeeded;
    return { phase: succeeded ? podPhases.succeeded : podPhases.failed, reason, message };
  }
  const computed = computePhase({
    spec: pod.spec,
    statuses,
    terminal,
    isStatic: isStatic(pod),
    initialized: isInitialized(input),
    ownRestartRules: (input.features ?? noFeatures).ownRestartRules,
  });
  const known = isTerminalPhase(previous.phase) ? previous.phase : undefined;
  const phase = announced ?? (isTerminalPhase(computed) ? computed : (known ?? computed));
  if (phase !== previous.phase) return { phase };
  const reason = previous.reason || pod.status.reason;
  const message = previous.message || pod.status.message;
  return { phase, ...(reason && { reason }), ...(message && { message }) };
}

/** Regular containers start after initialisation; those of an earlier sandbox do not count for this one. */
function isInitialized({ pod, observed }: PodStatusInput): boolean {
  const sandbox = observed?.sandboxes[0]?.id;
  const regular = new Set(pod.spec.containers.map(({ name }) => name));
  return observed?.containers.some(({ name, sandboxId }) => sandboxId === sandbox && regular.has(name)) ?? false;
}

type Addresses = Pick<PodStatus, 'hostIP' | 'hostIPs' | 'podIP' | 'podIPs'>;

function addresses(input: PodStatusInput, previous: PodStatus): Addresses {
  const { pod, hostIps } = input;
  const [hostIp] = hostIps;
  const podIps = pod.spec.hostNetwork === true ? hostIps : sortedPodIps(observedIps(input, previous), hostIps);
  const [podIp] = podIps;
  return {
    ...(hostIp !== undefined && { hostIP: hostIp, hostIPs: hostIps.map((ip) => ({ ip })) }),
    ...(podIp !== undefined && { podIP: podIp, podIPs: podIps.map((ip): PodIP => ({ ip })) }),
  };
}

/** A pod keeps its addresses in the status after its sandbox was removed, until a new one has others. */
function observedIps(input: PodStatusInput, previous: PodStatus): readonly string[] {
  const sandboxes = input.observed?.sandboxes ?? [];
  const ready = sandboxes.find((sandbox) => sandbox.state === 'ready' && sandbox.ips.length > 0);
  if (ready !== undefined) return ready.ips;
  const kept = (previous.podIPs ?? []).map(({ ip }) => ip);
  return kept.length > 0 ? kept : (sandboxes[0]?.ips ?? []);
}
