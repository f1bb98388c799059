import type { SandboxId } from '../../base/ids.ts';
import type { Container } from '../../gen/kubernetes/types.ts';
import { containerHash } from '../../model/container-hash.ts';
import { isRestartableInit } from '../../model/containers.ts';
import type { ObservedContainer, ObservedPod } from '../../model/observed-pod.ts';
import { computeRestart } from '../../model/restart-policy.ts';
import { killOf, startOf, type ActionsInput, type ContainerKill, type ContainerStart } from './pod-actions.ts';

/**
 *   underway ──last init done, sidecars started──> done        regular containers may start
 *      └──────an init failed under Never─────────> failed      the pod has ended
 */
interface InitActions {
  readonly progress: 'underway' | 'done' | 'failed';
  readonly reason: string;
  readonly kill: readonly ContainerKill[];
  readonly start: readonly ContainerStart[];
}

/** The init containers of the current sandbox: which runs next, which sidecars have to be started or killed. */
export function computeInitActions(input: ActionsInput, sandbox: SandboxId): InitActions {
  const { pod, observed } = input;
  const inits = pod.spec.initContainers ?? [];
  // An init container that ran in an earlier sandbox does not count: it has to run again in this one.
  const here = observed.containers.filter((container) => container.sandboxId === sandbox);
  const newest = (name: string): ObservedContainer | undefined => here.find((container) => container.name === name);
  const regularBegun = pod.spec.containers.some(({ name }) => {
    const state = newest(name)?.state;
    return state === 'created' || state === 'running';
  });

  if (regularBegun) {
    const steps = inits
      .filter(isRestartableInit)
      .map((container) => stepForSidecar(input, container, newest(container.name)));
    return { progress: 'done', reason: 'the pod is initialised', ...combine(steps) };
  }

  const reached = inits.findLastIndex(({ name }) => newest(name) !== undefined);
  const earlier = inits
    .slice(0, Math.max(0, reached))
    .filter(isRestartableInit)
    .map((container) => stepForSidecar(input, container, newest(container.name)));
  const step = reached < 0 ? advance(inits, 0) : stepAt(input, inits, reached, newest);
  const { kill, start } = combine([...earlier, step]);
  return { progress: step.progress, reason: step.reason, kill, start: start.map((one) => withPrevious(observed, one)) };
}

/** The restart count goes on where an earlier sandbox left it, although what ran there does not count for this one. */
function withPrevious({ containers }: ObservedPod, start: ContainerStart): ContainerStart {
  const last = containers.find(({ name }) => name === start.container.name);
  return start.previous !== undefined || last === undefined ? start : { ...start, previous: last };
}

interface Step {
  readonly kill: readonly ContainerKill[];
  readonly start: readonly ContainerStart[];
}

/** What follows from the furthest init container that has been started. */
function stepAt(
  input: ActionsInput,
  inits: readonly Container[],
  index: number,
  newest: (name: string) => ObservedContainer | undefined,
): InitActions {
  const container = inits[index];
  const status = container && newest(container.name);
  if (container === undefined || status === undefined) return advance(inits, index);
  if (isRestartableInit(container)) {
    const step = stepForSidecar(input, container, status);
    if (step.start.length > 0) return { progress: 'underway', reason: 'a sidecar starts', ...step };
    const started = container.startupProbe === undefined || input.probes.startup(status.id) === 'success';
    return started ? advance(inits, index + 1) : underway('a sidecar has not passed its startup probe');
  }
  switch (status.state) {
    case 'running':
      return underway(`init container ${container.name} is running`);
    case 'created':
      return startNow(container, status, 'it was made but never started');
    case 'exited':
      if (status.exitCode === 0 && status.reason !== 'OOMKilled') return advance(inits, index + 1);
      return failed(input, container, status, []);
    case 'unknown':
      return failed(input, container, status, [
        killOf(status, `Init container is in "${status.state}" state, try killing it before restart`, 'lost'),
      ]);
    default:
      return status.state satisfies never;
  }
}

function failed(
  input: ActionsInput,
  container: Container,
  status: ObservedContainer,
  kill: readonly ContainerKill[],
): InitActions {
  const { pod, ownRestartRules = false } = input;
  // A container that was OOM killed, or that the runtime lost, has failed although its exit code is 0.
  const ended = { exitCode: status.exitCode || 1 };
  if (!computeRestart({ container, podPolicy: pod.spec.restartPolicy, ended, ownRules: ownRestartRules })) {
    return { progress: 'failed', reason: `init container ${container.name} failed`, kill, start: [] };
  }
  return { ...startNow(container, status, 'it failed'), kill };
}

/** Everything before `index` is done: start the one there, or let the regular containers begin. */
function advance(inits: readonly Container[], index: number): InitActions {
  const next = inits[index];
  if (next === undefined) return { progress: 'done', reason: 'all init containers are done', kill: [], start: [] };
  return startNow(next, undefined, 'its turn has come');
}

function startNow(container: Container, previous: ObservedContainer | undefined, reason: string): InitActions {
  return { progress: 'underway', reason, kill: [], start: [startOf(container, 'init', previous, reason)] };
}

const underway = (reason: string): InitActions => ({ progress: 'underway', reason, kill: [], start: [] });

/** A sidecar runs for as long as the pod does, whatever the pod's restart policy says. */
function stepForSidecar(input: ActionsInput, container: Container, status: ObservedContainer | undefined): Step {
  const again = (reason: string, kill: readonly ContainerKill[] = []): Step => ({
    kill,
    start: input.pod.metadata.deletionTimestamp === undefined ? [startOf(container, 'init', status, reason)] : [],
  });
  if (status === undefined) return again('it is not there');
  switch (status.state) {
    case 'created':
      return again('it was made but never started');
    case 'exited':
      return again('it ended');
    case 'unknown':
      return again('the runtime lost track of it', [
        killOf(status, `Init container is in "${status.state}" state, try killing it before restart`, 'lost'),
      ]);
    case 'running':
      break;
    default:
      return status.state satisfies never;
  }
  const { name } = container;
  if (container.startupProbe !== undefined && input.probes.startup(status.id) === 'failure') {
    return again('its startup probe failed', [
      killOf(status, `Init container ${name} failed startup probe`, 'startup'),
    ]);
  }
  if (status.hash !== '' && status.hash !== containerHash(container)) {
    return again('its definition changed', [killOf(status, `Init container ${name} definition changed`, 'changed')]);
  }
  if (input.probes.liveness(status.id) === 'failure') {
    return again('its liveness probe failed', [
      killOf(status, `Init container ${name} failed liveness probe`, 'liveness'),
    ]);
  }
  return { kill: [], start: [] };
}

function combine(steps: readonly Step[]): Step {
  return { kill: steps.flatMap((step) => step.kill), start: steps.flatMap((step) => step.start) };
}
