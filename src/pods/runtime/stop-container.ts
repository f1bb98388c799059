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
  /** Containers whose preStop hook has begun: a second stop of the container does not run it again. */
  readonly preStopped: Set<ContainerId>;
  readonly started: Pick<RuntimeMetrics, 'httpFallback' | 'sleepTerminatedEarly'>;
}

/** As much of a container as stopping it takes. */
export type StoppableContainer = Pick<ObservedContainer, 'id' | 'name' | 'state' | 'annotations'>;

interface StopOptions {
  readonly graceSeconds: number;
  readonly podIp: string;
  /** Why, for the event; default: the container is stopped. */
  readonly message?: string;
  /** Ends when the containers that are stopped first have ended. */
  readonly waitFor?: Promise<unknown>;
  /** The name for the log of a pod that no source names. */
  readonly orphan?: LoggedPod;
  readonly signal: AbortSignal;
}

/** A container always gets this long between the stop signal and SIGKILL. */
const minimumStopSeconds = 2;

/**
 * Stops one container within one grace period: preStop hook, wait for the containers that end first, stop signal. One that
 * the runtime does not have counts as stopped.
 */
export async function stopContainer(
  deps: StopContainerDeps,
  pod: DesiredPod | undefined,
  observed: StoppableContainer,
  options: StopOptions,
): Promise<void> {
  const { clock, log, runtime } = deps;
  const { graceSeconds, signal } = options;
  const began = clock.monotonic();
  // Whole seconds count, so a hook that takes half a second takes nothing of the grace period.
  const left = (): number => graceSeconds - Math.floor((clock.monotonic() - began) / 1_000);
  recordEvent(
    deps,
    pod,
    observed,
    containerEvents.killing,
    options.message ?? `Stopping container ${observed.name}`,
    'Normal',
  );
  await preStop(deps, pod, observed, options);
  if (options.waitFor !== undefined) await within(clock, left() * 1_000, signal, () => options.waitFor);
  const timeout = BigInt(Math.max(minimumStopSeconds, Math.ceil(left())));
  log.debug(2, 'Killing container with a grace period', {
    ...podFields(pod ?? options.orphan ?? {}),
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
  { graceSeconds, podIp, orphan, signal }: StopOptions,
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
    onPlainHttp: recordHttpFallback(deps, pod),
  };
  // A sleep that is cut short is no failure: the grace period has passed.
  let problem = handler.sleep === undefined ? 'it did not end within the grace period' : undefined;
  let ended = false;
  await within(deps.clock, graceSeconds * 1_000, signal, async (bounded) => {
    problem = await runHook(deps.hooks, input, bounded);
    ended = true;
  });
  if (!ended && handler.sleep !== undefined) deps.started.sleepTerminatedEarly();
  if (problem === undefined) return;
  deps.log.warn('PreStop hook failed', {
    ...podFields(pod ?? orphan ?? {}),
    containerName: observed.name,
    containerID: observed.id,
    err: withoutArguments(problem, handler),
  });
  recordEvent(deps, pod, observed, containerEvents.failedPreStopHook, 'PreStopHook failed', 'Warning');
}

/** Counts and records that an HTTPS hook was answered in plain HTTP and sent again that way. */
export function recordHttpFallback(
  { events, started }: Pick<StopContainerDeps, 'events' | 'started'>,
  pod: DesiredPod | undefined,
): (host: string) => void {
  return (host) => {
    started.httpFallback();
    const message = `request to HTTPS lifecycle hook ${host} got HTTP response, retry with HTTP succeeded`;
    if (pod !== undefined) {
      events.record(pod, { type: 'Warning', reason: containerEvents.lifecycleHttpFallback, message });
    }
  };
}

/** Waits for the work, `ms` at most; a timeout is no error, an abort is. */
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

function recordEvent(
  deps: StopContainerDeps,
  pod: DesiredPod | undefined,
  { name }: StoppableContainer,
  reason: string,
  message: string,
  type: 'Normal' | 'Warning',
): void {
  const found = pod && findContainer(pod.spec, name);
  if (pod === undefined || found === undefined) return;
  deps.events.record(pod, { type, reason, message, fieldPath: containerFieldPath(found.kind, name) });
}

/** The container's spec, or what its annotations keep of it. */
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

/** What a kubelet wrote into an annotation; nothing when it is not JSON, so that the stop goes on without it. */
function parsed<T>(text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
