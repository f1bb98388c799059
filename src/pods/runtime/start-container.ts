import { Duration } from '../../base/duration.ts';
import { isKind, remoteMessageOf } from '../../base/errors.ts';
import { containerId, type ContainerId, type SandboxId } from '../../base/ids.ts';
import {
  ContainerState,
  CreateContainerRequest,
  type ContainerConfig,
  type PodSandboxConfig,
} from '../../gen/cri/api.ts';
import { containerFieldPath, describePod } from '../../model/containers.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { containerEvents } from '../../model/event-reasons.ts';
import { podFields } from '../../model/pod-log.ts';
import { startReasons } from '../../model/reasons.ts';
import type { StartRefusal } from '../../model/refusal.ts';
import type { PrepareContainer } from './prepare-container.ts';
import type { ContainerStart } from './pod-actions.ts';
import type { ContainerRuntime } from './ports.ts';
import { runPostStart } from './post-start.ts';
import type { RestartBackoff } from './restart-backoff.ts';
import type { RuntimeMetrics } from './runtime-metrics.ts';
import type { StartErrors } from './start-errors.ts';
import type { StopContainerDeps } from './stop-container.ts';
import { withoutArguments } from './run-hook.ts';

export interface StartDeps extends StopContainerDeps {
  readonly runtime: ContainerRuntime;
  readonly errors: StartErrors;
  readonly backoff: RestartBackoff;
  readonly prepare: PrepareContainer;
  readonly started: RuntimeMetrics;
}

/** The pod and the sandbox that a container is started in. */
export interface StartContext {
  readonly pod: DesiredPod;
  readonly sandbox: SandboxId;
  readonly sandboxConfig: PodSandboxConfig;
  readonly podIps: readonly string[];
  /** When an instance of the container last ended, of those the runtime has. */
  readonly lastEnd: (name: string) => number | undefined;
  /** The newest instance of a container, in whatever state. */
  readonly newest: (name: string) => ContainerId | undefined;
}

/** The delay before a start that the runtime failed at is tried again; shorter the first time, for a passing failure. */
const firstRetryDelayMs = 1_000;
const retryDelayMs = 10_000;

/**
 * Creates and starts one container, or returns why it cannot start now. A refusal is kept as the container's waiting
 * reason until a start succeeds; what only an operator or time can change is a refusal, never an exception.
 */
export async function startContainer(
  deps: StartDeps,
  context: StartContext,
  start: ContainerStart,
  signal: AbortSignal,
): Promise<StartRefusal | undefined> {
  const { pod } = context;
  const { name } = start.container;
  const delayed = retryDelayed(deps, pod, start);
  if (delayed !== undefined) return delayed;
  const fieldPath = containerFieldPath(start.kind, name);
  const warn = (reason: string, message: string): void =>
    deps.events.record(pod, { type: 'Warning', reason, message, fieldPath });

  const refusal =
    backOff(deps, context, start, warn) ?? (await createAndStart(deps, context, start, fieldPath, signal));
  if (refusal === undefined) {
    deps.errors.clear(pod.uid, name);
    return undefined;
  }
  signal.throwIfAborted();
  const isFirst = deps.errors.of(pod.uid).get(name) === undefined && refusal.reason !== startReasons.crashLoopBackOff;
  const delay = {
    until: deps.clock.monotonic() + (isFirst ? firstRetryDelayMs : retryDelayMs),
    definition: start.container,
  };
  deps.errors.set(
    pod.uid,
    name,
    { reason: refusal.reason, message: refusal.message, ...(wasKilled(start) && { atOnce: true }) },
    isRuntimeFailure(refusal.reason) ? delay : undefined,
  );
  const { postStart } = start.container.lifecycle ?? {};
  const message = postStart === undefined ? refusal.message : withoutArguments(refusal.message, postStart);
  deps.log.debug(1, 'Container cannot start', { ...podFields(pod), containerName: name, ...refusal, message });
  if (refusal.reason !== startReasons.crashLoopBackOff) deps.started.containerFailed(start.kind, refusal.reason);
  if (!hasOwnEvent.has(refusal.reason))
    warn(containerEvents.failed, `Error: ${imageReasons.has(refusal.reason) ? refusal.reason : refusal.message}`);
  return isFirst ? { ...refusal, retryMs: Math.min(firstRetryDelayMs, refusal.retryMs ?? firstRetryDelayMs) } : refusal;
}

/** The instance before ran when the start was decided, so the agent has killed it since. */
function wasKilled({ previous }: ContainerStart): boolean {
  return previous?.state === 'running';
}

/**
 * The refusal of a start that the runtime has just failed at, however often the pod is synced: a failed try may leave a
 * container behind, whose events would cause the next try.
 */
function retryDelayed(
  deps: StartDeps,
  pod: DesiredPod,
  { container, previous }: ContainerStart,
): StartRefusal | undefined {
  const waitMs = deps.errors.retryDelayedUntil(pod.uid, container) - deps.clock.monotonic();
  const last = deps.errors.of(pod.uid).get(container.name);
  // Less than a millisecond is a rounding error: the delay has passed.
  if (last === undefined || waitMs < 1) return undefined;
  // A container that ended at its start has run, as far as the runtime knows: back-off delays it, not this.
  if (last.reason === startReasons.runContainerError && previous?.state !== 'created') return undefined;
  return { reason: last.reason, message: last.message, retryMs: waitMs };
}

/** A container that ended is not started again before its delay has passed, counted from its end. */
function backOff(
  deps: StartDeps,
  { pod, lastEnd }: StartContext,
  { container }: ContainerStart,
  warn: (reason: string, message: string) => void,
): StartRefusal | undefined {
  // For a container that was killed just now the end before counts: a probe that keeps failing is a crash loop too.
  const endedAt = lastEnd(container.name);
  if (endedAt === undefined) return undefined;
  const waiting = deps.backoff.waiting(pod, container, endedAt);
  if (waiting === undefined) {
    deps.backoff.restarted(pod, container, endedAt);
    return undefined;
  }
  warn(containerEvents.backOff, `Back-off restarting failed container ${container.name} in pod ${describePod(pod)}`);
  const delay = Duration.ofMillis(waiting.delayMs).toString();
  return {
    reason: startReasons.crashLoopBackOff,
    message: `back-off ${delay} restarting failed container=${container.name} pod=${describePod(pod)}`,
    retryMs: waiting.waitMs,
  };
}

async function createAndStart(
  deps: StartDeps,
  context: StartContext,
  start: ContainerStart,
  fieldPath: string,
  signal: AbortSignal,
): Promise<StartRefusal | undefined> {
  const { pod, sandbox, sandboxConfig, podIps, newest } = context;
  const { name } = start.container;
  deps.started.containerStarts(start.kind);
  const prepared = await deps.prepare({ pod, start, podIps, fieldPath, sandboxConfig, newest }, signal);
  if ('refusal' in prepared) return prepared.refusal;

  // It was created but never started, so its name and its restart count are used again.
  if (start.previous?.state === 'created' && !(await removeUnstarted(deps, start.previous.id, signal)))
    return undefined;
  const created = await create(deps, sandbox, prepared.ok, sandboxConfig, signal);
  if ('refusal' in created) return created.refusal;
  deps.events.record(pod, {
    type: 'Normal',
    reason: containerEvents.created,
    message: `Created container: ${name}`,
    fieldPath,
  });
  try {
    await deps.runtime.startContainer({ containerId: created.ok }, { signal });
  } catch (error) {
    signal.throwIfAborted();
    return { reason: startReasons.runContainerError, message: remoteMessageOf(error) };
  }
  deps.events.record(pod, {
    type: 'Normal',
    reason: containerEvents.started,
    message: `Started container ${name}`,
    fieldPath,
  });
  deps.log.debug(2, 'Container started', {
    ...podFields(pod),
    containerName: name,
    containerID: created.ok,
    reason: start.reason,
  });
  const instance = {
    id: containerId(created.ok),
    name,
    state: 'running',
    annotations: prepared.ok.annotations,
  } as const;
  return runPostStart(deps, { pod, container: start.container, instance, podIp: podIps[0] ?? '', fieldPath }, signal);
}

/**
 * Removes a container that was created and never started; false if it has been started since it was seen. Preparing may
 * have taken minutes, and the runtime may finish a start that an agent asked for before it died: to remove the container
 * would kill it without its grace. The next observation shows it.
 */
async function removeUnstarted({ runtime }: StartDeps, id: ContainerId, signal: AbortSignal): Promise<boolean> {
  try {
    const { status } = await runtime.containerStatus({ containerId: id, verbose: false }, { signal });
    if (status?.state !== ContainerState.CONTAINER_CREATED) return false;
    await runtime.removeContainer({ containerId: id }, { signal });
  } catch (error) {
    if (!isKind(error, 'notFound')) throw error;
  }
  return true;
}

async function create(
  deps: StartDeps,
  sandbox: SandboxId,
  config: ContainerConfig,
  sandboxConfig: PodSandboxConfig,
  signal: AbortSignal,
): Promise<{ readonly ok: string } | { readonly refusal: StartRefusal }> {
  const request = CreateContainerRequest.fromPartial({ podSandboxId: sandbox, config, sandboxConfig });
  try {
    return { ok: (await deps.runtime.createContainer(request, { signal })).containerId };
  } catch (error) {
    signal.throwIfAborted();
    return { refusal: { reason: startReasons.createContainerError, message: remoteMessageOf(error) } };
  }
}

function isRuntimeFailure(reason: string): boolean {
  return reason === startReasons.createContainerError || reason === startReasons.runContainerError;
}

/** Reasons for which an event of their own was recorded already. */
const hasOwnEvent: ReadonlySet<string> = new Set([startReasons.crashLoopBackOff, startReasons.postStartHookError]);

/** The image manager has recorded an event of its own with the details. */
const imageReasons: ReadonlySet<string> = new Set([
  startReasons.imagePullBackOff,
  startReasons.errImagePull,
  startReasons.errImageNeverPull,
  startReasons.imageInspectError,
  startReasons.invalidImageName,
  startReasons.registryUnavailable,
  startReasons.signatureValidationFailed,
]);
