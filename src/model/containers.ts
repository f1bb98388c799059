import type { Container, EphemeralContainer, PodSpec } from '../gen/kubernetes/types.ts';

export type ContainerKind = 'init' | 'regular' | 'ephemeral';

interface ContainerEntry {
  readonly kind: ContainerKind;
  readonly container: Container | EphemeralContainer;
  /** An init container that keeps running beside the others. */
  readonly sidecar: boolean;
}

/** Whether an init container is a sidecar: started in turn, but kept running. */
export function isRestartableInit(container: Pick<Container, 'restartPolicy'>): boolean {
  return container.restartPolicy === 'Always';
}

export function sidecarsOf(spec: PodSpec): readonly Container[] {
  return (spec.initContainers ?? []).filter(isRestartableInit);
}

export function plainInitContainersOf(spec: PodSpec): readonly Container[] {
  return (spec.initContainers ?? []).filter((container) => !isRestartableInit(container));
}

/** All containers of a pod in the order in which they may start: init, regular, ephemeral. */
export function allContainers(spec: PodSpec): readonly ContainerEntry[] {
  return [
    ...(spec.initContainers ?? []).map((container): ContainerEntry => ({
      kind: 'init',
      container,
      sidecar: isRestartableInit(container),
    })),
    ...spec.containers.map((container): ContainerEntry => ({ kind: 'regular', container, sidecar: false })),
    ...(spec.ephemeralContainers ?? []).map((container): ContainerEntry => ({
      kind: 'ephemeral',
      container,
      sidecar: false,
    })),
  ];
}

/** Names are unique over all kinds. */
export function findContainer(spec: PodSpec, name: string): ContainerEntry | undefined {
  return allContainers(spec).find((entry) => entry.container.name === name);
}

const fieldOfKind: Readonly<Record<ContainerKind, string>> = {
  init: 'initContainers',
  regular: 'containers',
  ephemeral: 'ephemeralContainers',
};

/** The field path by which an event names a container of its pod. */
export function containerFieldPath(kind: ContainerKind, name: string): string {
  return `spec.${fieldOfKind[kind]}{${name}}`;
}

/** How messages name a pod. */
export function describePod(pod: { readonly name: string; readonly namespace: string; readonly uid: string }): string {
  return `${pod.name}_${pod.namespace}(${pod.uid})`;
}
