import { TubeletError } from '../../base/errors.ts';
import { ContainerEventType, type PodSandboxFilter } from '../../gen/cri/api.ts';
import { removeContainerRecord, stopProcess } from './containers.ts';
import type { ContainerDeps } from './deps.ts';
import type { HandlersFor } from './handlers.ts';
import type { FakeSandbox } from './state.ts';
import { containerStatus, hasLabels, onHostNetwork, sandboxItem, sandboxState, sandboxStatus } from './views.ts';

interface SandboxDeps extends ContainerDeps {
  /** Names of runtime handlers; the default one is the empty name. */
  readonly runtimeHandlers: ReadonlySet<string>;
}

type SandboxVerb =
  | 'runPodSandbox'
  | 'stopPodSandbox'
  | 'removePodSandbox'
  | 'podSandboxStatus'
  | 'listPodSandbox'
  | 'updatePodSandboxResources';

export function sandboxHandlers(deps: SandboxDeps): HandlersFor<SandboxVerb> {
  const { state, events } = deps;
  return {
    runPodSandbox({ config, runtimeHandler }) {
      const metadata = config?.metadata;
      if (config === undefined || metadata === undefined) {
        throw new TubeletError('internal', 'sandbox config must include metadata');
      }
      const id = state.newId();
      const name = [metadata.name, metadata.namespace, metadata.uid, metadata.attempt].join('_');
      state.reserve('sandbox', name, id);
      if (!deps.runtimeHandlers.has(runtimeHandler)) {
        state.release(name);
        const words = `failed to get sandbox runtime: no runtime for "${runtimeHandler}" is configured`;
        throw new TubeletError('internal', words);
      }
      const sandbox: FakeSandbox = {
        id,
        name,
        config,
        runtimeHandler,
        createdAt: state.stamp(),
        state: 'ready',
        ip: onHostNetwork({ config }) ? '' : state.newAddress(),
        resources: config.linux?.resources,
      };
      state.sandboxes.set(id, sandbox);
      events.emit(ContainerEventType.CONTAINER_CREATED_EVENT, id, sandbox);
      events.emit(ContainerEventType.CONTAINER_STARTED_EVENT, id, sandbox);
      return { podSandboxId: id };
    },

    async stopPodSandbox({ podSandboxId }, signal) {
      await stopSandbox(deps, state.sandbox(podSandboxId), signal);
      return {};
    },

    async removePodSandbox({ podSandboxId }, signal) {
      const sandbox = state.sandboxes.get(podSandboxId);
      if (sandbox === undefined) return {};
      await stopSandbox(deps, sandbox, signal);
      for (const container of state.containersOf(sandbox.id)) removeContainerRecord(deps, container);
      if (!state.sandboxes.delete(sandbox.id)) return {};
      state.release(sandbox.name);
      events.emit(ContainerEventType.CONTAINER_DELETED_EVENT, sandbox.id, sandbox);
      return {};
    },

    podSandboxStatus({ podSandboxId, verbose }) {
      const sandbox = state.sandbox(podSandboxId);
      return {
        status: sandboxStatus(sandbox),
        info: verbose ? { info: JSON.stringify({ runtimeHandler: sandbox.runtimeHandler }) } : {},
        containersStatuses: events.supported ? state.containersOf(sandbox.id).map(containerStatus) : [],
        timestamp: events.supported ? state.stamp() : 0n,
      };
    },

    listPodSandbox({ filter }) {
      const found = [...state.sandboxes.values()].filter((sandbox) => sandboxMatches(sandbox, filter));
      return { items: found.map(sandboxItem) };
    },

    updatePodSandboxResources({ podSandboxId, resources }) {
      state.sandbox(podSandboxId).resources = resources;
      return {};
    },
  };
}

export function sandboxMatches(sandbox: FakeSandbox, filter: PodSandboxFilter | undefined): boolean {
  if (filter === undefined) return true;
  return (
    (filter.id === '' || filter.id === sandbox.id) &&
    (filter.state === undefined || filter.state.state === sandboxState(sandbox)) &&
    hasLabels(sandbox.config.labels, filter.labelSelector)
  );
}

/** Kills what runs in it and gives its address back. */
async function stopSandbox(deps: SandboxDeps, sandbox: FakeSandbox, signal: AbortSignal): Promise<void> {
  for (const container of deps.state.containersOf(sandbox.id)) await stopProcess(container, 0, signal);
  loseSandbox(deps, sandbox);
}

/** The sandbox is no longer ready, by our hand or because its pause process died. */
export function loseSandbox(deps: Pick<SandboxDeps, 'events'>, sandbox: FakeSandbox): void {
  if (sandbox.state === 'notReady') return;
  sandbox.state = 'notReady';
  sandbox.ip = '';
  deps.events.emit(ContainerEventType.CONTAINER_STOPPED_EVENT, sandbox.id, sandbox);
}
