import type { Container } from '../../gen/kubernetes/types.ts';
import { containerHash } from '../../model/container-hash.ts';
import type { ObservedContainer } from '../../model/observed-pod.ts';
import { computeRestart, restartPolicyOf, type RestartInput } from '../../model/restart-policy.ts';
import { killOf, startOf, type ActionsInput, type ContainerKill, type ContainerStart } from './pod-actions.ts';

interface RegularActions {
  /** Containers that run and shall go on. */
  readonly keep: number;
  readonly kill: readonly ContainerKill[];
  readonly start: readonly ContainerStart[];
}

export function computeRegularActions(input: ActionsInput): RegularActions {
  const perContainer = input.pod.spec.containers.map((container) => {
    const status = input.observed.containers.find(({ name }) => name === container.name);
    return status?.state === 'running'
      ? actionsForRunning(input, container, status)
      : actionsForStopped(input, container, status);
  });
  return {
    keep: perContainer.filter((actions) => actions.keep).length,
    kill: perContainer.flatMap((actions) => actions.kill ?? []),
    start: perContainer.flatMap((actions) => actions.start ?? []),
  };
}

interface ContainerActions {
  readonly keep: boolean;
  readonly kill?: ContainerKill;
  readonly start?: ContainerStart;
}

function actionsForRunning(input: ActionsInput, container: Container, status: ObservedContainer): ContainerActions {
  const { name } = container;
  const deleting = input.pod.metadata.deletionTimestamp !== undefined;
  if (status.hash !== '' && status.hash !== containerHash(container)) {
    const kill = killOf(status, `Container ${name} definition changed, will be restarted`, 'changed');
    return deleting
      ? { keep: true }
      : { keep: false, kill, start: startOf(container, 'regular', status, 'its definition changed') };
  }
  const probe =
    input.probes.liveness(status.id) === 'failure'
      ? 'liveness'
      : input.probes.startup(status.id) === 'failure'
        ? 'startup'
        : undefined;
  if (probe === undefined) return { keep: true };
  // Restart rules match an exit code, and the container has none yet: only policies count here.
  const restarts = restartPolicyOf(ownPolicy(input, container)) !== 'Never' && !deleting;
  const message = `Container ${name} failed ${probe} probe${restarts ? ', will be restarted' : ''}`;
  return {
    keep: false,
    kill: killOf(status, message, probe),
    ...(restarts && { start: startOf(container, 'regular', status, `its ${probe} probe failed`) }),
  };
}

function actionsForStopped(
  input: ActionsInput,
  container: Container,
  status: ObservedContainer | undefined,
): ContainerActions {
  if (input.pod.metadata.deletionTimestamp !== undefined) return { keep: false };
  if (status === undefined) return { keep: false, start: startOf(container, 'regular', undefined, 'it is not there') };
  if (status.state === 'created') {
    return { keep: false, start: startOf(container, 'regular', status, 'it was made but never started') };
  }
  if (status.state === 'unknown') {
    const message = `Container is in "${status.state}" state, try killing it before restart`;
    return {
      keep: false,
      kill: killOf(status, message, 'lost'),
      start: startOf(container, 'regular', status, 'the runtime lost track of it'),
    };
  }
  const again = computeRestart({ ...ownPolicy(input, container), ended: status });
  return again ? { keep: false, start: startOf(container, 'regular', status, 'it ended') } : { keep: false };
}

function ownPolicy({ pod, ownRestartRules = false }: ActionsInput, container: Container): Omit<RestartInput, 'ended'> {
  return { container, podPolicy: pod.spec.restartPolicy, ownRules: ownRestartRules };
}
