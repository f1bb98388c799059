import { containerId, podUid, sandboxId, type PodUid } from '../../base/ids.ts';
import {
  ContainerState,
  NamespaceMode,
  PodSandboxState,
  Signal,
  type ContainerStatus,
  type PodSandboxStatus,
} from '../../gen/cri/api.ts';
import { containerHashAnnotation, podUidLabel } from '../../model/labels.ts';
import type { ObservedContainer, ObservedContainerState, ObservedSandbox } from '../../model/observed-pod.ts';

/** Nanoseconds since the epoch to milliseconds; the runtime says 0 for "not yet". */
const millis = (nanos: bigint): number => Number(nanos / 1_000_000n);

/** The uid a sandbox or container belongs to; nothing for those that no kubelet made. */
export function uidOf(labels: Readonly<Record<string, string>>): PodUid | undefined {
  const uid = labels[podUidLabel];
  return uid === undefined || uid === '' ? undefined : podUid(uid);
}

export function toObservedSandbox(status: PodSandboxStatus): ObservedSandbox {
  const network = status.linux?.namespaces?.options?.network === NamespaceMode.NODE ? 'node' : 'pod';
  const ips = [status.network?.ip ?? '', ...(status.network?.additionalIps ?? []).map(({ ip }) => ip)];
  return {
    id: sandboxId(status.id),
    attempt: status.metadata?.attempt ?? 0,
    state: sandboxState(status.state),
    createdAt: millis(status.createdAt),
    // The runtime reports the node's own address for host network on some versions; the pod has none of its own.
    ips: network === 'node' ? [] : ips.filter((ip) => ip !== ''),
    network,
    networkKnown: status.network !== undefined,
  };
}

export function toObservedContainer(status: ContainerStatus, sandbox: string): ObservedContainer {
  return {
    id: containerId(status.id),
    sandboxId: sandboxId(sandbox),
    name: status.metadata?.name ?? '',
    attempt: status.metadata?.attempt ?? 0,
    state: containerState(status.state),
    createdAt: millis(status.createdAt),
    startedAt: millis(status.startedAt),
    finishedAt: millis(status.finishedAt),
    exitCode: status.exitCode,
    reason: status.reason,
    message: status.message,
    image: status.image?.image ?? '',
    imageRef: status.imageRef,
    hash: status.annotations[containerHashAnnotation] ?? '',
    annotations: status.annotations,
    logPath: status.logPath,
    ...details(status),
  };
}

/** Fields that not every runtime reports. */
function details(status: ContainerStatus): Pick<ObservedContainer, 'user' | 'stopSignal' | 'held'> {
  const user = status.user?.linux;
  const held = status.resources?.linux;
  const stopSignal = signalNames.get(status.stopSignal);
  return {
    ...(user && {
      user: {
        uid: Number(user.uid),
        gid: Number(user.gid),
        supplementalGroups: user.supplementalGroups.map(Number),
      },
    }),
    ...(stopSignal !== undefined && { stopSignal }),
    ...(held && {
      held: {
        cpuShares: held.cpuShares,
        cpuQuotaUs: held.cpuQuota,
        cpuPeriodUs: held.cpuPeriod,
        memoryBytes: held.memoryLimitInBytes,
      },
    }),
  };
}

/** As pods spell them: `SIGRTMIN+1`. The default of the runtime has no name. */
const signalNames: ReadonlyMap<Signal, string> = new Map(
  Object.entries(Signal)
    .filter(([, signal]) => signal !== Signal.RUNTIME_DEFAULT)
    .map(([name, signal]) => [signal, name.replace('PLUS', '+').replace('MINUS', '-')]),
);

export function sandboxState(state: PodSandboxState): ObservedSandbox['state'] {
  return state === PodSandboxState.SANDBOX_READY ? 'ready' : 'notReady';
}

export function containerState(state: ContainerState): ObservedContainerState {
  switch (state) {
    case ContainerState.CONTAINER_CREATED:
      return 'created';
    case ContainerState.CONTAINER_RUNNING:
      return 'running';
    case ContainerState.CONTAINER_EXITED:
      return 'exited';
    case ContainerState.CONTAINER_UNKNOWN:
    default:
      return 'unknown';
  }
}
