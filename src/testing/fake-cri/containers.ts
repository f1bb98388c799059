import { TubeletError } from '../../base/errors.ts';
import { ContainerEventType, type ContainerFilter } from '../../gen/cri/api.ts';
import type { ContainerDeps } from './deps.ts';
import type { HandlersFor } from './handlers.ts';
import { startContainer } from './start.ts';
import type { FakeContainer } from './state.ts';
import { containerItem, containerState, containerStatus, hasLabels } from './views.ts';

type ContainerVerb =
  | 'createContainer'
  | 'startContainer'
  | 'stopContainer'
  | 'removeContainer'
  | 'listContainers'
  | 'containerStatus'
  | 'updateContainerResources'
  | 'reopenContainerLog'
  | 'checkpointContainer';

export function containerHandlers(deps: ContainerDeps): HandlersFor<ContainerVerb> {
  const { state } = deps;
  return {
    createContainer: ({ podSandboxId, config, sandboxConfig }) => ({
      containerId: createContainer(deps, podSandboxId, config, sandboxConfig),
    }),

    startContainer({ containerId }) {
      startContainer(deps, state.container(containerId));
      return {};
    },

    async stopContainer({ containerId, timeout }, signal) {
      await stopProcess(state.container(containerId), Number(timeout) * 1_000, signal);
      return {};
    },

    async removeContainer({ containerId }, signal) {
      const container = state.containers.get(containerId);
      if (container === undefined) return {};
      await stopProcess(container, 0, signal);
      removeContainerRecord(deps, container);
      return {};
    },

    listContainers({ filter }) {
      const found = [...state.containers.values()].filter((container) => containerMatches(container, filter));
      return { containers: found.map(containerItem) };
    },

    containerStatus({ containerId, verbose }) {
      const container = state.container(containerId);
      return {
        status: containerStatus(container),
        info: verbose ? { info: JSON.stringify({ sandboxID: container.sandboxId }) } : {},
      };
    },

    updateContainerResources({ containerId, linux }) {
      const container = state.container(containerId);
      if (container.state === 'exited') throw new TubeletError('internal', 'container is in CONTAINER_EXITED state');
      if (linux !== undefined) container.resources = linux;
      return {};
    },

    reopenContainerLog({ containerId }) {
      const container = state.container(containerId);
      if (container.state !== 'running') throw new TubeletError('internal', 'container is not running');
      if (container.logPath !== '') deps.logs.append(container.logPath, '');
      return {};
    },

    checkpointContainer({ containerId, location }) {
      const container = state.container(containerId);
      if (container.state !== 'running') throw new TubeletError('internal', 'container is not running');
      container.checkpoints.push(location);
      return {};
    },
  };
}

type CreateRequest = Parameters<HandlersFor<'createContainer'>['createContainer']>[0];

function createContainer(
  deps: ContainerDeps,
  sandboxId: string,
  config: CreateRequest['config'],
  sandboxConfig: CreateRequest['sandboxConfig'],
): string {
  const { state } = deps;
  const sandbox = state.sandboxes.get(sandboxId);
  if (sandbox === undefined) throw new TubeletError('notFound', `failed to find sandbox id "${sandboxId}": not found`);
  if (sandbox.state !== 'ready') {
    throw new TubeletError('notFound', `failed to get sandbox container task: no running task found: ${sandboxId}`);
  }
  const metadata = config?.metadata;
  const pod = sandbox.config.metadata;
  if (config === undefined || metadata === undefined || pod === undefined) {
    throw new TubeletError('internal', 'container config must include metadata');
  }
  const id = state.newId();
  const name = [metadata.name, pod.name, pod.namespace, pod.uid, metadata.attempt].join('_');
  state.reserve('container', name, id);
  const imageName = config.image?.image ?? '';
  const image = deps.images.find(imageName);
  if (image === undefined) {
    state.release(name);
    throw new TubeletError('notFound', `failed to resolve image "${imageName}": not found`);
  }
  const logDirectory = sandboxConfig?.logDirectory ?? '';
  const { runAsUser, runAsGroup } = config.linux?.securityContext ?? {};
  const user = { linux: { uid: runAsUser?.value ?? 0n, gid: runAsGroup?.value ?? 0n, supplementalGroups: [] } };
  const container: FakeContainer = {
    id,
    name,
    sandboxId,
    config,
    imageId: image.id,
    imageName: [...image.tags][0] ?? image.id,
    logPath: logDirectory === '' || config.logPath === '' ? '' : `${logDirectory}/${config.logPath}`,
    user: deps.health.supplementalGroupsPolicy ? user : undefined,
    createdAt: state.stamp(),
    checkpoints: [],
    state: 'created',
    startedAt: 0n,
    finishedAt: 0n,
    exitCode: 0,
    reason: '',
    message: '',
    resources: config.linux?.resources,
    process: undefined,
  };
  state.containers.set(id, container);
  deps.events.emit(ContainerEventType.CONTAINER_CREATED_EVENT, id, sandbox);
  return id;
}

export function containerMatches(container: FakeContainer, filter: ContainerFilter | undefined): boolean {
  if (filter === undefined) return true;
  return (
    (filter.id === '' || filter.id === container.id) &&
    (filter.podSandboxId === '' || filter.podSandboxId === container.sandboxId) &&
    (filter.state === undefined || filter.state.state === containerState(container)) &&
    hasLabels(container.config.labels, filter.labelSelector)
  );
}

/** Nothing for a container that is not running. */
export async function stopProcess(container: FakeContainer, graceMs: number, signal: AbortSignal): Promise<void> {
  if (container.state === 'running') await container.process?.stop(graceMs, signal);
}

export function removeContainerRecord(deps: ContainerDeps, container: FakeContainer): void {
  // Two removals may have waited for the same process; only one of them removes.
  if (!deps.state.containers.delete(container.id)) return;
  deps.state.release(container.name);
  const sandbox = deps.state.sandboxes.get(container.sandboxId);
  if (sandbox !== undefined) {
    deps.events.emit(ContainerEventType.CONTAINER_DELETED_EVENT, container.id, sandbox);
  }
}
