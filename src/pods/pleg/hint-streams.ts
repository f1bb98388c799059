import { ContainerEventType, type ContainerEventResponse } from '../../gen/cri/api.ts';
import type { Hint, HintedState, HintStream, LowLevelEvent, LowLevelEvents, ObservableRuntime } from './ports.ts';
import { uidOf } from './to-observed.ts';

/** The events of CRI: they name the pod, and the runtime tells them after its own books are in order. */
export function criHints(runtime: Pick<ObservableRuntime, 'containerEvents'>): HintStream {
  return {
    name: 'CRI',
    async *hints(signal) {
      for await (const event of runtime.containerEvents(signal)) {
        const hint = fromCri(event);
        if (hint !== undefined) yield hint;
      }
    },
  };
}

/** The events of containerd itself: they name containers and sandboxes alone, and come before CRI has taken notice. */
export function containerdHints(source: LowLevelEvents): HintStream {
  return {
    name: 'containerd',
    async *hints(signal) {
      for await (const event of source.events(signal)) yield fromContainerd(event);
    },
  };
}

const criStates: Readonly<Record<ContainerEventType, HintedState>> = {
  [ContainerEventType.CONTAINER_CREATED_EVENT]: 'created',
  [ContainerEventType.CONTAINER_STARTED_EVENT]: 'running',
  [ContainerEventType.CONTAINER_STOPPED_EVENT]: 'exited',
  [ContainerEventType.CONTAINER_DELETED_EVENT]: 'gone',
};

/** Nothing for pods that no kubelet made. Without a sandbox, which may be gone by now, the id has to do. */
export function fromCri(event: ContainerEventResponse): Hint | undefined {
  const { containerId, podSandboxStatus, createdAt } = event;
  const uid = podSandboxStatus && uidOf(podSandboxStatus.labels);
  if (podSandboxStatus !== undefined && uid === undefined) return undefined;
  // A type from the future is no state we could know of already.
  const state: HintedState | undefined = criStates[event.containerEventType];
  const at = createdAt > 0n ? { at: Number(createdAt / 1_000_000n) } : {};
  return { ...(containerId !== '' && { containerId }), ...(uid && { uid }), ...(state && { state }), ...at };
}

const containerdStates: Readonly<Record<LowLevelEvent['kind'], HintedState | undefined>> = {
  created: 'created',
  started: 'running',
  exited: 'exited',
  removed: 'gone',
  // The kernel killed something in there; what follows from that comes as an event of its own.
  oom: undefined,
};

export function fromContainerd({ kind, containerId, at }: LowLevelEvent): Hint {
  const state = containerdStates[kind];
  return { containerId, ahead: true, ...(state && { state }), ...(at !== undefined && { at }) };
}
