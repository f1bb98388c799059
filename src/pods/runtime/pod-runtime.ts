import type { Clock } from '../../base/clock.ts';
import { cutText } from '../../base/cut-text.ts';
import { TubeletError, remoteMessageOf } from '../../base/errors.ts';
import { sandboxId, type ContainerId, type SandboxId } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { PodSandboxConfig } from '../../gen/cri/api.ts';
import type { Decision, Decisions } from '../../model/decisions.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { findContainer } from '../../model/containers.ts';
import type { HostDns } from '../../model/dns.ts';
import { podEvents } from '../../model/event-reasons.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import type { UserNamespaceBlock } from '../../model/namespaces.ts';
import { podFields } from '../../model/pod-log.ts';
import { startReasons } from '../../model/reasons.ts';
import type { StartRefusal } from '../../model/refusal.ts';
import { runtimeHandlerFor, type HandlerChoice, type RuntimeClasses } from '../../model/runtime-class.ts';
import type { RuntimeSettings } from '../../model/runtime-settings.ts';
import type { RuntimeOutcome } from '../../model/sync-outcome.ts';
import { computePodActions } from './compute-actions.ts';
import { computeInitRequeue } from './compute-requeue.ts';
import { computeSandboxChange } from './compute-sandbox-change.ts';
import { computeLeftOut, computeSandboxConfig, computeSandboxDns } from './compute-sandbox-config.ts';
import { computeSandboxWait } from './compute-sandbox-wait.ts';
import { computeStopGrace } from './compute-stop-grace.ts';
import type { PodActions, ProbeResults } from './pod-actions.ts';
import type { ContainerRuntime, PodEvents, SandboxRuntime, UserNamespaces, Volumes } from './ports.ts';
import type { PrepareContainer } from './prepare-container.ts';
import type { RestartBackoff } from './restart-backoff.ts';
import {
  createSandboxDecision,
  initWaitDecision,
  killDecision,
  killPodDecision,
  networkWaitDecision,
  refusedDecision,
  sandboxRefusedDecision,
  sandboxWaitDecision,
  startedDecision,
} from './runtime-decisions.ts';
import { runtimeMetrics } from './runtime-metrics.ts';
import type { CommandRuntime, HookDeps } from './run-hook.ts';
import { startContainer, type StartDeps, type StartContext } from './start-container.ts';
import type { StartErrors } from './start-errors.ts';
import { stopContainer, type StopContainerDeps } from './stop-container.ts';
import { ignoreNotFound, removePod, stopPod } from './stop-pod.ts';

export interface PodRuntimeDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly decisions: Decisions;
  readonly runtime: SandboxRuntime & ContainerRuntime & CommandRuntime;
  readonly events: PodEvents;
  readonly probes: ProbeResults;
  readonly errors: StartErrors;
  readonly backoff: RestartBackoff;
  readonly hooks: Pick<HookDeps, 'requests'>;
  readonly prepare: PrepareContainer;
  /** The dead instances that neither restarts nor logs need any more. */
  readonly prune: (observed: ObservedPod) => Prunable;
  readonly logs: { remove(path: string): Promise<void> };
  readonly metrics: Metrics;
  readonly settings: RuntimeSettings;
  /** The host's resolver configuration, read when a sandbox is made. */
  readonly hostDns: () => Promise<HostDns>;
  readonly hostIps: () => readonly string[];
  /** The ways of running a sandbox that the runtime announces, by name. */
  readonly runtimeHandlers: () => ReadonlySet<string>;
  /** The API server's runtime classes; without one a class is a handler of that name. */
  readonly runtimeClasses?: RuntimeClasses;
  /** Why pods cannot have a network of their own now. */
  readonly networkError: () => string | undefined;
  readonly userNamespaces: UserNamespaces;
  readonly volumes: Pick<Volumes, 'extraGroups'>;
  /** Whether a healthy stream of events reports when containers end. */
  readonly exitEventsReliable: () => boolean;
}

interface Prunable {
  readonly containers: readonly { readonly id: ContainerId; readonly logPath: string | undefined }[];
  readonly sandboxes: readonly SandboxId[];
}

const afterKillMs = 1_000;
const maxLeftOutShown = 10;
/** While pods can have no network, this often it is checked whether they can. */
const networkRetryMs = 1_000;
/** A refusal without a time of its own is tried again after this long, because what was missing may be there. */
const refusedRetryMs = 10_000;

/**
 * When to sync again a pod whose container could not start. ErrImagePull is reported for a while only: the next sync comes
 * before the back-off of the pull has passed, and reports ImagePullBackOff.
 */
function requeueAfterRefusal({ reason, retryMs = refusedRetryMs }: StartRefusal): number {
  return reason === startReasons.errImagePull ? Math.min(retryMs, refusedRetryMs) : retryMs;
}

/** Refusals after which the runtime has a new container, which may even have run. */
const reasonsAfterCreate: ReadonlySet<string> = new Set([
  startReasons.runContainerError,
  startReasons.postStartHookError,
]);

/** Carries out decisions about a pod in the runtime. Keeps no state of its own but start errors and back-off. */
export class PodRuntime {
  readonly #deps: Omit<PodRuntimeDeps, 'metrics'> & StopContainerDeps & Pick<StartDeps, 'started'>;

  constructor(deps: PodRuntimeDeps) {
    const { clock, runtime, hooks } = deps;
    this.#deps = {
      ...deps,
      hooks: { clock, runtime, requests: hooks.requests },
      preStopped: new Set(),
      started: runtimeMetrics(deps.metrics),
    };
  }

  /** Whether containers would have to wait for a sandbox to be made. */
  needsSandbox(pod: DesiredPod, observed: ObservedPod): boolean {
    return computeSandboxChange(pod, observed).kind === 'replace';
  }

  /** Brings the pod one step nearer to its spec, from what was observed. */
  async sync(pod: DesiredPod, observed: ObservedPod, signal: AbortSignal): Promise<RuntimeOutcome> {
    if (this.#lacksNetwork(pod)) return { acted: false, requeueAfterMs: networkRetryMs };
    const { probes, settings } = this.#deps;
    const ownRestartRules = settings.featureGates('ContainerRestartRules');
    const actions = computePodActions({ pod, observed, probes, ownRestartRules });
    const wait = actions.createSandbox && computeSandboxWait(observed, this.#deps.clock.now());
    if (wait !== undefined) {
      this.#record(pod, sandboxWaitDecision(wait));
      return { acted: false, requeueAfterMs: wait };
    }
    if (actions.waitsFor !== undefined) this.#record(pod, initWaitDecision(actions.waitsFor));
    const stopped = await this.#killContainers(pod, observed, actions, signal);
    const pruned = await this.#prune(observed, signal);
    const started = await this.#startContainers(pod, observed, actions, signal);
    // Where events report exits, no sync at intervals is needed.
    const exitEventsReliable = this.#deps.exitEventsReliable();
    const waits = [
      ...started.waits,
      // A container that was killed and may not start yet: the next sync reports its end and removes older instances.
      actions.kill.length > 0 && started.waits.length > 0 ? afterKillMs : undefined,
      exitEventsReliable ? undefined : computeInitRequeue(pod, observed, this.#deps.clock.now()),
    ];
    const known = waits.filter((wait) => wait !== undefined);
    const ended = actions.killPod !== undefined && actions.createSandbox === undefined && actions.start.length === 0;
    return {
      acted: stopped || started.any,
      ...(pruned && { pruned }),
      ...(known.length > 0 && { requeueAfterMs: Math.min(...known) }),
      ...(ended && { ended }),
    };
  }

  /** Pods on the host network do not wait: they need no pod network, and one of them may be what brings it up. */
  #lacksNetwork(pod: DesiredPod): boolean {
    const problem = pod.spec.hostNetwork === true ? undefined : this.#deps.networkError();
    if (problem === undefined) return false;
    const message = `network is not ready: ${problem}`;
    this.#deps.events.record(pod, { type: 'Warning', reason: podEvents.networkNotReady, message });
    this.#record(pod, networkWaitDecision(message, networkRetryMs));
    return true;
  }

  /** Stops everything of the pod within its grace. */
  async stop(
    pod: DesiredPod | undefined,
    observed: ObservedPod,
    graceSeconds: number,
    signal: AbortSignal,
  ): Promise<void> {
    await stopPod(this.#deps, pod, observed, graceSeconds, signal);
  }

  /** Removes a stopped pod's containers and sandboxes from the runtime. */
  async remove(observed: ObservedPod, signal: AbortSignal): Promise<void> {
    await removePod(this.#deps, observed, signal);
    this.#deps.errors.forget(observed.uid);
    this.#deps.backoff.forget(observed.uid);
    for (const { id } of observed.containers) this.#deps.preStopped.delete(id);
  }

  async #killContainers(
    pod: DesiredPod,
    observed: ObservedPod,
    actions: PodActions,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { events } = this.#deps;
    const graceSeconds = pod.spec.terminationGracePeriodSeconds ?? 30;
    if (actions.killPod !== undefined) {
      this.#record(pod, killPodDecision(actions, actions.killPod));
      if (actions.createSandbox !== undefined) {
        const message = 'Pod sandbox changed, it will be killed and re-created.';
        events.record(pod, { type: 'Normal', reason: podEvents.sandboxChanged, message });
      }
      await stopPod(this.#deps, pod, observed, graceSeconds, signal);
      // A pod that has ended is stopped at each sync. That is an action only if something ran, or it would sync without end.
      return isAlive(observed);
    }
    const podIp = observed.sandboxes[0]?.ips[0] ?? '';
    await Promise.all(
      actions.kill.map(async (kill) => {
        const { id, name, message, cause } = kill;
        const container = observed.containers.find((candidate) => candidate.id === id);
        if (container === undefined) return;
        const grace = computeStopGrace(pod, findContainer(pod.spec, name)?.container, cause);
        this.#record(pod, killDecision(kill, grace));
        await stopContainer(this.#deps, pod, container, { graceSeconds: grace, podIp, message, signal });
      }),
    );
    return actions.kill.length > 0;
  }

  async #prune(observed: ObservedPod, signal: AbortSignal): Promise<boolean> {
    const { runtime, logs } = this.#deps;
    const prune = this.#deps.prune(observed);
    await Promise.all(
      prune.containers.map(async ({ id, logPath }) => {
        // The log first: once the container is removed, its log path is lost.
        if (logPath !== undefined && logPath !== '') await logs.remove(logPath);
        await ignoreNotFound(runtime.removeContainer({ containerId: id }, { signal }));
      }),
    );
    await Promise.all(
      prune.sandboxes.map((id) => ignoreNotFound(runtime.removePodSandbox({ podSandboxId: id }, { signal }))),
    );
    return prune.containers.length + prune.sandboxes.length > 0;
  }

  async #startContainers(
    pod: DesiredPod,
    observed: ObservedPod,
    actions: PodActions,
    signal: AbortSignal,
  ): Promise<{ readonly any: boolean; readonly waits: readonly number[] }> {
    const context = await this.#ensureSandbox(pod, observed, actions, signal);
    if (context === undefined) return { any: false, waits: [] };
    const waits: number[] = [];
    let any = actions.createSandbox !== undefined;
    for (const start of actions.start) {
      const refusal = await startContainer(this.#deps, context, start, signal);
      // A container that failed to run was created all the same, and is now a dead one.
      any ||= refusal === undefined || reasonsAfterCreate.has(refusal.reason);
      if (refusal === undefined) this.#record(pod, startedDecision(start));
      else this.#record(pod, refusedDecision(start, refusal, refusal.retryMs ?? refusedRetryMs));
      if (refusal !== undefined) waits.push(requeueAfterRefusal(refusal));
    }
    return { any, waits };
  }

  /** The sandbox that containers are started in: the one there is, or a new one. */
  async #ensureSandbox(
    pod: DesiredPod,
    observed: ObservedPod,
    actions: PodActions,
    signal: AbortSignal,
  ): Promise<StartContext | undefined> {
    const { createSandbox, sandbox } = actions;
    const attempt = createSandbox?.attempt ?? observed.sandboxes.find(({ id }) => id === sandbox)?.attempt ?? 0;
    if (createSandbox === undefined && (sandbox === undefined || actions.start.length === 0)) return undefined;
    if (createSandbox !== undefined) {
      this.#record(pod, createSandboxDecision(createSandbox));
      this.#deps.started.podStarts(pod.spec.hostUsers === false);
    }
    const config = await this.#sandboxConfig(pod, attempt, signal);
    const id = sandbox ?? (await this.#createSandbox(pod, config, createSandbox?.reason ?? '', signal));
    const known = observed.sandboxes.find((other) => other.id === id);
    const podIps = known?.ips ?? (await this.#addresses(id, signal));
    const lastEnd = (name: string): number | undefined =>
      observed.containers.find((container) => container.name === name && container.state === 'exited')?.finishedAt;
    const newest = (name: string): ContainerId | undefined =>
      observed.containers.find((container) => container.name === name)?.id;
    return { pod, sandbox: id, sandboxConfig: config, podIps, lastEnd, newest };
  }

  async #sandboxConfig(pod: DesiredPod, attempt: number, signal: AbortSignal): Promise<PodSandboxConfig> {
    const { settings, hostIps } = this.#deps;
    const hostDns = await this.#deps.hostDns();
    try {
      const userNamespace = await this.#userNamespace(pod, signal);
      const input = {
        pod,
        attempt,
        settings,
        hostDns,
        hostIps: hostIps(),
        extraGroups: this.#deps.volumes.extraGroups(pod),
        ...(userNamespace && { userNamespace }),
      };
      for (const event of computeSandboxDns(input).events) this.#deps.events.record(pod, { type: 'Warning', ...event });
      const leftOut = computeLeftOut(input.pod);
      if (leftOut.length > 0) {
        this.#deps.log.warn('The runtime is not given all labels and annotations of a pod: they are too long', {
          ...podFields(pod),
          leftOut: leftOut.slice(0, maxLeftOutShown),
        });
      }
      return computeSandboxConfig(input);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#sandboxFailed(pod, remoteMessageOf(error), error);
    }
  }

  async #userNamespace(pod: DesiredPod, signal: AbortSignal): Promise<UserNamespaceBlock | undefined> {
    if (pod.spec.hostUsers !== false) return undefined;
    const choice = this.#handlerFor(pod);
    if ('refusal' in choice) throw new TubeletError('invalid', choice.refusal);
    return this.#deps.userNamespaces.blockFor(pod, choice.handler, signal);
  }

  #handlerFor(pod: DesiredPod): HandlerChoice {
    const { runtimeClasses, runtimeHandlers } = this.#deps;
    return runtimeHandlerFor(pod, runtimeClasses, runtimeHandlers());
  }

  async #createSandbox(
    pod: DesiredPod,
    config: PodSandboxConfig,
    reason: string,
    signal: AbortSignal,
  ): Promise<SandboxId> {
    const choice = this.#handlerFor(pod);
    if ('refusal' in choice) throw this.#sandboxFailed(pod, choice.refusal);
    this.#deps.log.debug(2, 'Creating pod sandbox', { ...podFields(pod), reason });
    const { runtime, clock, started } = this.#deps;
    const began = clock.monotonic();
    const ran = (failed: boolean): void => {
      started.sandboxRan(choice.handler, (clock.monotonic() - began) / 1_000, failed);
    };
    try {
      const { podSandboxId } = await runtime.runPodSandbox({ config, runtimeHandler: choice.handler }, { signal });
      ran(false);
      return sandboxId(podSandboxId);
    } catch (error) {
      ran(true);
      signal.throwIfAborted();
      throw this.#sandboxFailed(pod, remoteMessageOf(error), error);
    }
  }

  #sandboxFailed(pod: DesiredPod, message: string, cause?: unknown): TubeletError {
    const full = cutText(`Failed to create pod sandbox: ${message}`);
    this.#deps.started.podFailed(pod.spec.hostUsers === false);
    this.#deps.events.record(pod, { type: 'Warning', reason: podEvents.failedCreatePodSandbox, message: full });
    this.#record(pod, sandboxRefusedDecision(full));
    return new TubeletError('unavailable', full, { cause });
  }

  #record(pod: DesiredPod, decision: Decision): void {
    this.#deps.decisions.pod(pod, decision);
  }

  async #addresses(id: SandboxId, signal: AbortSignal): Promise<readonly string[]> {
    const { status } = await this.#deps.runtime.podSandboxStatus({ podSandboxId: id, verbose: false }, { signal });
    const { ip = '', additionalIps = [] } = status?.network ?? {};
    return [ip, ...additionalIps.map((additional) => additional.ip)].filter((address) => address !== '');
  }
}

function isAlive({ sandboxes, containers }: ObservedPod): boolean {
  return (
    sandboxes.some(({ state }) => state === 'ready') ||
    containers.some(({ state }) => state === 'running' || state === 'unknown')
  );
}
