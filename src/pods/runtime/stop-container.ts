import { withTimeout } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { isKind } from '../../base/errors.ts';
import type { ContainerId } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { Container, LifecycleHandler } from '../../gen/kubernetes/types.ts';
import { containerFieldPath, describePod, findContainer } from '../../model/containers.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { containerEvents } from '../../model/event-reasons.ts';
import { containerPortsAnnotation, containerPreStopHandlerAnnotation } from '../../model/labels.ts';
import type { ObservedContainer } from '../../model/observed-pod.ts';
import { podFields, type LoggedPod } from '../../model/pod-log.ts';
import type { ContainerRuntime, PodEvents } from './ports.ts';
import { runHook, withoutArguments, type HookDeps } from './run-hook.ts';
import type { RuntimeMetrics } from './runtime-metrics.ts';

export interface StopContainerDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly runtime: Pick<ContainerRuntime, 'stopContainer'>;
  readonly events: PodEvents;
  readonly hooks: HookDeps;
  /** Containers whose preStop hook has begun: a stop that is begun anew does not run it a second time. */
  readonly preStopped: Set<ContainerId>;
  readonly started?: Pick<RuntimeMetrics, 'hookFellBack' | 'sleepCutShort'>;
}

/** As much of a container as stopping it takes. */
export type StoppableContainer = Pick<ObservedContainer, 'id' | 'name' | 'state' | 'annotations'>;

interface StopHow {
  readonly graceSeconds: number;
  readonly podIp: string;
  /** Why, in the words of the event; a plain stop says so itself. */
  readonly message?: string;
  /** Ends when those that must go first have gone. */
  readonly turn?: Promise<unknown>;
  /** Names a pod in the log of which no source has a spec. */
  readonly orphan?: LoggedPod;
  readonly signal: AbortSignal;
}

/** A container always gets this long between the polite signal and the other one. */
const minimumStopSeconds = 2;

/** Stops one container: its hook, its turn, its signal, all within one grace. What is gone already counts as stopped. */
export async function stopContainer(
  deps: StopContainerDeps,
  pod: DesiredPod | undefined,
  observed: StoppableContainer,
  how: StopHow,
): Promise<void> {
  const { clock, log, runtime } = deps;
  const { graceSeconds, signal } = how;
  const began = clock.monotonic();
  // Whole seconds count: a hook that takes half a second costs nothing.
  const left = (): number => graceSeconds - Math.floor((clock.monotonic() - began) / 1_000);
  tell(deps, pod, observed, containerEvents.killing, how.message ?? `Stopping container ${observed.name}`, 'Normal');
  await preStop(deps, pod, observed, how);
  if (how.turn !== undefined) await within(clock, left() * 1_000, signal, () => how.turn);
  const timeout = BigInt(Math.max(minimumStopSeconds, Math.ceil(left())));
  log.debug(2, 'Killing container with a grace period', {
    ...podFields(pod ?? how.orphan ?? {}),
    containerName: observed.name,
    containerID: observed.id,
    gracePeriod: Number(timeout),
  });
  try {
    await runtime.stopContainer({ containerId: observed.id, timeout }, { signal });
  } catch (error) {
    if (!isKind(error, 'notFound')) throw error;
  }
}

async function preStop(
  deps: StopContainerDeps,
  pod: DesiredPod | undefined,
  observed: StoppableContainer,
  { graceSeconds, podIp, orphan, signal }: StopHow,
): Promise<void> {
  const container = containerOf(pod, observed);
  const handler = container.lifecycle?.preStop;
  if (handler === undefined || graceSeconds <= 0 || observed.state !== 'running') return;
  if (deps.preStopped.has(observed.id)) return;
  deps.preStopped.add(observed.id);
  const input = {
    handler,
    container,
    id: observed.id,
    podIp,
    podName: pod === undefined ? '' : describePod(pod),
    onPlainHttp: toldOfFallback(deps, pod),
  };
  // A pause that is cut short has done what it is for.
  let problem = handler.sleep === undefined ? 'it did not end within the grace period' : undefined;
  let ended = false;
  await within(deps.clock, graceSeconds * 1_000, signal, async (bounded) => {
    problem = await runHook(deps.hooks, input, bounded);
    ended = true;
  });
  if (!ended && handler.sleep !== undefined) deps.started?.sleepCutShort();
  if (problem === undefined) return;
  deps.log.warn('PreStop hook failed', {
    ...podFields(pod ?? orphan ?? {}),
    containerName: observed.name,
    containerID: observed.id,
    err: withoutArguments(problem, handler),
  });
  tell(deps, pod, observed, containerEvents.failedPreStopHook, 'PreStopHook failed', 'Warning');
}

/** Says that a hook which asked for encryption went without. */
export function toldOfFallback(
  { events, started }: Pick<StopContainerDeps, 'events' | 'started'>,
  pod: DesiredPod | undefined,
): (host: string) => void {
  return (host) => {
    started?.hookFellBack();
    const message = `request to HTTPS lifecycle hook ${host} got HTTP response, retry with HTTP succeeded`;
    if (pod !== undefined) {
      events.record(pod, { type: 'Warning', reason: containerEvents.lifecycleHttpFallback, message });
    }
  };
}

/** Waits no longer than the time there is; running out of it is no error, being given up is. */
async function within(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<unknown> | undefined,
): Promise<void> {
  if (ms <= 0) return;
  try {
    await withTimeout(clock, ms, async (bounded) => void (await work(bounded)), signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!isKind(error, 'timeout')) throw error;
  }
}

function tell(
  deps: StopContainerDeps,
  pod: DesiredPod | undefined,
  { name }: StoppableContainer,
  reason: string,
  message: string,
  type: 'Normal' | 'Warning',
): void {
  const entry = pod && findContainer(pod.spec, name);
  if (pod === undefined || entry === undefined) return;
  deps.events.record(pod, { type, reason, message, fieldPath: containerFieldPath(entry.kind, name) });
}

/** The container's spec, or what its annotations remember of it. */
function containerOf(pod: DesiredPod | undefined, { name, annotations }: StoppableContainer): Container {
  const known = pod && findContainer(pod.spec, name)?.container;
  if (known !== undefined) return known;
  const preStopHandler = parsed<LifecycleHandler>(annotations[containerPreStopHandlerAnnotation]);
  const ports = parsed<Container['ports']>(annotations[containerPortsAnnotation]);
  return {
    name,
    ...(preStopHandler !== undefined && { lifecycle: { preStop: preStopHandler } }),
    ...(ports !== undefined && { ports }),
  };
}

/** What a kubelet wrote into an annotation; nothing when it cannot be read, for then nothing can be done with it. */
function parsed<T>(text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
