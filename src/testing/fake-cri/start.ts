import { TubeletError } from '../../base/errors.ts';
import { ContainerEventType } from '../../gen/cri/api.ts';
import type { ContainerDeps } from './deps.ts';
import { writeOutput } from './logs.ts';
import { FakeProcess, type ProcessEnd } from './process.ts';
import type { FakeContainer } from './state.ts';
import { stateName } from './views.ts';

/** Starts a created container with the behaviour that its script has for this start. */
export function startContainer(deps: ContainerDeps, container: FakeContainer): void {
  const { state, events } = deps;
  if (container.state !== 'created') {
    const words = `failed to set starting state for container "${container.id}": container is in ${stateName(container)} state`;
    throw new TubeletError('internal', words);
  }
  const sandbox = state.sandbox(container.sandboxId);
  if (sandbox.state !== 'ready') {
    throw new TubeletError('internal', `sandbox container "${sandbox.id}" is not running`);
  }
  const behaviour = deps.programs.of({
    pod: sandbox.config.metadata?.name ?? '',
    namespace: sandbox.config.metadata?.namespace ?? '',
    container: container.config.metadata?.name ?? '',
    attempt: container.config.metadata?.attempt ?? 0,
    image: container.config.image?.userSpecifiedImage || (container.config.image?.image ?? ''),
  });
  if (behaviour.startFailure !== undefined) {
    const { kind, message } = behaviour.startFailure;
    finish(deps, container, { code: 128, reason: 'StartError' }, message);
    throw new TubeletError(kind, message);
  }
  const process = new FakeProcess(deps.clock, behaviour, (end) => finish(deps, container, end, ''));
  container.process = process;
  container.state = 'running';
  container.startedAt = state.stamp();
  writeOutput(deps, container, behaviour.output ?? []);
  events.emit(ContainerEventType.CONTAINER_STARTED_EVENT, container.id, sandbox);
  process.start();
}

function finish(deps: ContainerDeps, container: FakeContainer, end: ProcessEnd, message: string): void {
  container.state = 'exited';
  container.process = undefined;
  container.finishedAt = deps.state.stamp();
  container.exitCode = end.code;
  container.reason = end.reason ?? '';
  container.message = message;
  const sandbox = deps.state.sandboxes.get(container.sandboxId);
  if (sandbox !== undefined) {
    deps.events.emit(ContainerEventType.CONTAINER_STOPPED_EVENT, container.id, sandbox);
  }
}
