/**
 * Phases, conditions and reasons that users, controllers and dashboards read. Other programs compare them for equality,
 * so each is written here once.
 */
export const podPhases = {
  pending: 'Pending',
  running: 'Running',
  succeeded: 'Succeeded',
  failed: 'Failed',
  unknown: 'Unknown',
} as const;
export type PodPhase = (typeof podPhases)[keyof typeof podPhases];

export function isTerminalPhase(phase: string | undefined): phase is 'Succeeded' | 'Failed' {
  return phase === podPhases.succeeded || phase === podPhases.failed;
}

export const podConditions = {
  scheduled: 'PodScheduled',
  ready: 'Ready',
  initialized: 'Initialized',
  containersReady: 'ContainersReady',
  readyToStartContainers: 'PodReadyToStartContainers',
  resizePending: 'PodResizePending',
  resizeInProgress: 'PodResizeInProgress',
  disruptionTarget: 'DisruptionTarget',
} as const;

/** Conditions that only a kubelet writes; all others in a pod's status belong to other writers. */
const ownConditions: ReadonlySet<string> = new Set([
  podConditions.scheduled,
  podConditions.ready,
  podConditions.initialized,
  podConditions.containersReady,
  podConditions.readyToStartContainers,
  podConditions.resizePending,
  podConditions.resizeInProgress,
]);

export function isOwnCondition(type: string): boolean {
  return ownConditions.has(type);
}

export const conditionReasons = {
  unknownContainerStatuses: 'UnknownContainerStatuses',
  containersNotInitialized: 'ContainersNotInitialized',
  containersNotReady: 'ContainersNotReady',
  readinessGatesNotReady: 'ReadinessGatesNotReady',
  podCompleted: 'PodCompleted',
  podFailed: 'PodFailed',
  resizeDeferred: 'Deferred',
  resizeInfeasible: 'Infeasible',
  resizeError: 'Error',
  terminationByKubelet: 'TerminationByKubelet',
} as const;

/** Why a container has not started. */
export const startReasons = {
  containerCreating: 'ContainerCreating',
  podInitializing: 'PodInitializing',
  createContainerConfigError: 'CreateContainerConfigError',
  preCreateHookError: 'PreCreateHookError',
  createContainerError: 'CreateContainerError',
  preStartHookError: 'PreStartHookError',
  runContainerError: 'RunContainerError',
  postStartHookError: 'PostStartHookError',
  crashLoopBackOff: 'CrashLoopBackOff',
  imagePullBackOff: 'ImagePullBackOff',
  errImagePull: 'ErrImagePull',
  errImageNeverPull: 'ErrImageNeverPull',
  imageInspectError: 'ImageInspectError',
  invalidImageName: 'InvalidImageName',
  registryUnavailable: 'RegistryUnavailable',
  signatureValidationFailed: 'SignatureValidationFailed',
} as const;

/** Reasons of a container's end that are not the runtime's own. */
export const endReasons = {
  completed: 'Completed',
  error: 'Error',
  oomKilled: 'OOMKilled',
  containerCannotRun: 'ContainerCannotRun',
  containerStatusUnknown: 'ContainerStatusUnknown',
} as const;

/** Reasons of failed and rejected pods. */
export const podReasons = {
  evicted: 'Evicted',
  deadlineExceeded: 'DeadlineExceeded',
  sysctlForbidden: 'SysctlForbidden',
  topologyAffinityError: 'TopologyAffinityError',
  smtAlignmentError: 'SMTAlignmentError',
  unexpectedAdmissionError: 'UnexpectedAdmissionError',
  invalidNodeInfo: 'InvalidNodeInfo',
  podOsSelectorNodeLabelDoesNotMatch: 'PodOSSelectorNodeLabelDoesNotMatch',
  podOsNotSupported: 'PodOSNotSupported',
  supplementalGroupsPolicyNotSupported: 'SupplementalGroupsPolicyNotSupported',
  initContainerRestartPolicyForbidden: 'InitContainerRestartPolicyForbidden',
  /** Followed by the name of the resource. */
  outOfPrefix: 'OutOf',
  nodeAffinity: 'NodeAffinity',
  nodeName: 'NodeName',
  nodePorts: 'NodePorts',
  taintToleration: 'TaintToleration',
  appArmor: 'AppArmor',
  podLevelResourcesNotSupported: 'PodLevelResourcesNotSupported',
  /** The Go kubelet has no such reason, because it has no such limit. */
  podTooLarge: 'PodTooLarge',
  nodeShutdown: 'NodeShutdown',
  volumeAttachmentLimitExceeded: 'VolumeAttachmentLimitExceeded',
  preempting: 'Preempting',
  /** Ended because the machine goes down. */
  terminated: 'Terminated',
} as const;

export const podMessages = {
  deadlineExceeded: 'Pod was active on the node longer than the specified deadline',
  nodeShutdown: 'Pod was terminated in response to imminent node shutdown.',
  rejectedPrefix: 'Pod was rejected: ',
  initPassed: 'The init container could not be located, but the pod has gone on since: it must have ended well',
  lostWhenTerminated: 'The container could not be located when the pod was terminated',
  lostWhenDeleted: 'The container could not be located when the pod was deleted.  The container used to be Running',
} as const;

/** Whether a status says that the agent ended the pod because the machine went down. */
export function endedByShutdown({ reason, message }: { readonly reason?: string; readonly message?: string }): boolean {
  return reason === podReasons.terminated && message === podMessages.nodeShutdown;
}
