import { ContainerEventType, type ContainerEventResponse } from '../../gen/cri/api.ts';
import type {
  RuntimeEvent,
  EventState,
  RuntimeEventSource,
  LowLevelEvent,
  LowLevelEvents,
  ObservableRuntime,
} from './ports.ts';
import { uidOf } from './to-observed.ts';

/** The events of CRI: they name the pod, and the runtime sends them when its own answers show the change. */
export function criEventSource(runtime: Pick<ObservableRuntime, 'containerEvents'>): RuntimeEventSource {
  return {
    name: 'CRI',
    async *events(signal) {
      for await (const event of runtime.containerEvents(signal)) {
        const own = fromCri(event);
        if (own !== undefined) yield own;
      }
    },
  };
}

/** The events of containerd itself: they name only containers and sandboxes, and come before CRI shows the change. */
export function containerdEventSource(source: LowLevelEvents): RuntimeEventSource {
  return {
    name: 'containerd',
    async *events(signal) {
      for await (const event of source.events(signal)) yield fromContainerd(event);
    },
  };
}

const criStates: Readonly<Record<ContainerEventType, EventState>> = {
  [ContainerEventType.CONTAINER_CREATED_EVENT]: 'created',
  [ContainerEventType.CONTAINER_STARTED_EVENT]: 'running',
  [ContainerEventType.CONTAINER_STOPPED_EVENT]: 'exited',
  [ContainerEventType.CONTAINER_DELETED_EVENT]: 'removed',
};

/** Nothing for pods that no kubelet made. Without a sandbox, which may have been removed by now, the id has to do. */
export function fromCri(event: ContainerEventResponse): RuntimeEvent | undefined {
  const { containerId, podSandboxStatus, createdAt } = event;
  const uid = podSandboxStatus && uidOf(podSandboxStatus.labels);
  if (podSandboxStatus !== undefined && uid === undefined) return undefined;
  // A type that this version does not know has no state: the pod is inspected.
  const state: EventState | undefined = criStates[event.containerEventType];
  const at = createdAt > 0n ? { at: Number(createdAt / 1_000_000n) } : {};
  return { ...(containerId !== '' && { containerId }), ...(uid && { uid }), ...(state && { state }), ...at };
}

const containerdStates: Readonly<Record<LowLevelEvent['kind'], EventState | undefined>> = {
  created: 'created',
  started: 'running',
  exited: 'exited',
  removed: 'removed',
  // The kernel killed a process of the container; what follows from that comes as an event of its own.
  oom: undefined,
};

export function fromContainerd({ kind, containerId, at }: LowLevelEvent): RuntimeEvent {
  const state = containerdStates[kind];
  return { containerId, unconfirmed: true, ...(state && { state }), ...(at !== undefined && { at }) };
}
