import { Duration } from '../../base/duration.ts';
import { remoteMessageOf } from '../../base/errors.ts';
import { containerId, type ContainerId, type SandboxId } from '../../base/ids.ts';
import { CreateContainerRequest, type ContainerConfig, type PodSandboxConfig } from '../../gen/cri/api.ts';
import { containerFieldPath, describePod } from '../../model/containers.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { containerEvents } from '../../model/event-reasons.ts';
import { podFields } from '../../model/pod-log.ts';
import { startReasons } from '../../model/reasons.ts';
import type { PrepareContainer } from './prepare-container.ts';
import type { ContainerStart } from './pod-actions.ts';
import type { ContainerRuntime, StartRefusal } from './ports.ts';
import { runPostStart } from './post-start.ts';
import type { RestartBackoff } from './restart-backoff.ts';
import type { RuntimeMetrics } from './runtime-metrics.ts';
import type { StartErrors } from './start-errors.ts';
import type { StopContainerDeps } from './stop-container.ts';
import { gone } from './stop-pod.ts';
import { withoutArguments } from './run-hook.ts';

export interface StartDeps extends StopContainerDeps {
  readonly runtime: ContainerRuntime;
  readonly errors: StartErrors;
  readonly backoff: RestartBackoff;
  readonly prepare: PrepareContainer;
  readonly started: RuntimeMetrics;
}

/** Where the container goes. */
export interface StartPlace {
  readonly pod: DesiredPod;
  readonly sandbox: SandboxId;
  readonly sandboxConfig: PodSandboxConfig;
  readonly podIps: readonly string[];
  /** When an instance of the container last ended, of those the runtime remembers. */
  readonly lastEnd: (name: string) => number | undefined;
  /** The newest instance of a container, in whatever state. */
  readonly newest: (name: string) => ContainerId | undefined;
}

/** How long the runtime is not asked again for what it has just failed at: sooner the first time, it may be a hiccup. */
const firstHoldMs = 1_000;
const holdMs = 10_000;

/**
 * Makes and starts one container, or says why not now. A refusal is kept as the container's waiting reason until a
 * start succeeds; what only an operator or time can change is a refusal, never an exception.
 */
export async function startContainer(
  deps: StartDeps,
  place: StartPlace,
  start: ContainerStart,
  signal: AbortSignal,
): Promise<StartRefusal | undefined> {
  const { pod } = place;
  const { name } = start.container;
  const held = onHold(deps, pod, start);
  if (held !== undefined) return held;
  const fieldPath = containerFieldPath(start.kind, name);
  const warn = (reason: string, message: string): void =>
    deps.events.record(pod, { type: 'Warning', reason, message, fieldPath });

  const refusal = backOff(deps, place, start, warn) ?? (await createAndStart(deps, place, start, fieldPath, signal));
  if (refusal === undefined) {
    deps.errors.clear(pod.uid, name);
    return undefined;
  }
  signal.throwIfAborted();
  const isFirst = deps.errors.of(pod.uid).get(name) === undefined && refusal.reason !== startReasons.crashLoopBackOff;
  const hold = { until: deps.clock.monotonic() + (isFirst ? firstHoldMs : holdMs), definition: start.container };
  deps.errors.set(
    pod.uid,
    name,
    { reason: refusal.reason, message: refusal.message, ...(wasKilled(start) && { atOnce: true }) },
    isRuntimeFailure(refusal.reason) ? hold : undefined,
  );
  const { postStart } = start.container.lifecycle ?? {};
  const message = postStart === undefined ? refusal.message : withoutArguments(refusal.message, postStart);
  deps.log.debug(1, 'Container cannot start', { ...podFields(pod), containerName: name, ...refusal, message });
  if (refusal.reason !== startReasons.crashLoopBackOff) deps.started.containerFailed(start.kind, refusal.reason);
  if (!hasSpoken.has(refusal.reason))
    warn(containerEvents.failed, `Error: ${isImageReason(refusal.reason) ? refusal.reason : refusal.message}`);
  return isFirst ? { ...refusal, retryMs: Math.min(firstHoldMs, refusal.retryMs ?? firstHoldMs) } : refusal;
}

/** The instance before ran when it was decided upon, so that we have killed it since. */
function wasKilled({ previous }: ContainerStart): boolean {
  return previous?.state === 'running';
}

/**
 * What the runtime failed at it is not asked for again at once, however often the pod is looked at: a try that fails may
 * leave something behind, whose events would set off the next try.
 */
function onHold(deps: StartDeps, pod: DesiredPod, { container, previous }: ContainerStart): StartRefusal | undefined {
  const waitMs = deps.errors.heldUntil(pod.uid, container) - deps.clock.monotonic();
  const last = deps.errors.of(pod.uid).get(container.name);
  // Less than a millisecond is a rounding error, and a wait of no time.
  if (last === undefined || waitMs < 1) return undefined;
  // One that ended at its start has run, as far as the runtime knows: that is a matter of back-off.
  if (last.reason === startReasons.runContainerError && previous?.state !== 'created') return undefined;
  return { reason: last.reason, message: last.message, retryMs: waitMs };
}

/** A container that ended is not started again before its delay has passed, counted from its end. */
function backOff(
  deps: StartDeps,
  { pod, lastEnd }: StartPlace,
  { container }: ContainerStart,
  warn: (reason: string, message: string) => void,
): StartRefusal | undefined {
  // The end before last counts for a container that was killed just now: a probe that keeps failing is a crash loop too.
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
  place: StartPlace,
  start: ContainerStart,
  fieldPath: string,
  signal: AbortSignal,
): Promise<StartRefusal | undefined> {
  const { pod, sandbox, sandboxConfig, podIps, newest } = place;
  const { name } = start.container;
  deps.started.containerStarts(start.kind);
  const prepared = await deps.prepare({ pod, start, podIps, fieldPath, sandboxConfig, newest }, signal);
  if ('refusal' in prepared) return prepared.refusal;

  // Made but never started: its time to run never came, so its place and its number are free again.
  if (start.previous?.state === 'created') {
    await gone(deps.runtime.removeContainer({ containerId: start.previous.id }, { signal }));
  }
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

/** Reasons that have had an event of their own, and no more to say. */
const hasSpoken: ReadonlySet<string> = new Set([startReasons.crashLoopBackOff, startReasons.postStartHookError]);

/** Image trouble has had an event of its own with the details. */
function isImageReason(reason: string): boolean {
  return reason.includes('Image');
}
