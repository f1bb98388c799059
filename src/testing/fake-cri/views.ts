import {
  ContainerState,
  ImageSpec,
  NamespaceMode,
  PodSandboxState,
  type Container,
  type ContainerStatus,
  type PodSandbox,
  type PodSandboxStatus,
} from '../../gen/cri/api.ts';
import type { FakeContainer, FakeSandbox } from './state.ts';

const containerStates = {
  created: ContainerState.CONTAINER_CREATED,
  running: ContainerState.CONTAINER_RUNNING,
  exited: ContainerState.CONTAINER_EXITED,
} as const;

export function sandboxState(sandbox: FakeSandbox): PodSandboxState {
  return sandbox.state === 'ready' ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY;
}

export function containerState(container: FakeContainer): ContainerState {
  return containerStates[container.state];
}

/** The state by the name the interface has for it, for messages. */
export function stateName(container: FakeContainer): string {
  return `CONTAINER_${container.state.toUpperCase()}`;
}

export function onHostNetwork(sandbox: Pick<FakeSandbox, 'config'>): boolean {
  return sandbox.config.linux?.securityContext?.namespaceOptions?.network === NamespaceMode.NODE;
}

export function sandboxItem(sandbox: FakeSandbox): PodSandbox {
  const { config } = sandbox;
  return {
    id: sandbox.id,
    metadata: config.metadata,
    state: sandboxState(sandbox),
    createdAt: sandbox.createdAt,
    labels: config.labels,
    annotations: config.annotations,
    runtimeHandler: sandbox.runtimeHandler,
  };
}

export function sandboxStatus(sandbox: FakeSandbox): PodSandboxStatus {
  const options = sandbox.config.linux?.securityContext?.namespaceOptions;
  return {
    ...sandboxItem(sandbox),
    network: { ip: sandbox.ip, additionalIps: [] },
    linux: { namespaces: { options } },
  };
}

export function containerItem(container: FakeContainer): Container {
  const { config } = container;
  return {
    id: container.id,
    podSandboxId: container.sandboxId,
    metadata: config.metadata,
    image: config.image,
    imageRef: container.imageId,
    state: containerState(container),
    createdAt: container.createdAt,
    labels: config.labels,
    annotations: config.annotations,
    imageId: container.imageId,
  };
}

export function containerStatus(container: FakeContainer): ContainerStatus {
  const { config } = container;
  const byCode = container.exitCode === 0 ? 'Completed' : 'Error';
  return {
    id: container.id,
    metadata: config.metadata,
    state: containerState(container),
    createdAt: container.createdAt,
    startedAt: container.startedAt,
    finishedAt: container.finishedAt,
    exitCode: container.exitCode,
    image: ImageSpec.fromPartial({ ...config.image, image: container.imageName }),
    imageRef: container.imageId,
    reason: container.state === 'exited' && container.reason === '' ? byCode : container.reason,
    message: container.message,
    labels: config.labels,
    annotations: config.annotations,
    mounts: config.mounts,
    logPath: container.logPath,
    resources: { linux: container.resources },
    imageId: container.imageId,
    user: container.user,
    stopSignal: config.stopSignal,
  };
}

/** Whether all wanted labels are there with exactly these values. */
export function hasLabels(labels: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}
