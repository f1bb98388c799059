import { withTimeout } from '../../base/abort.ts';
import { describeError, messageOf } from '../../base/errors.ts';
import { hungAfterMs } from '../../base/heartbeats.ts';
import type { Settings } from '../../config/index.ts';
import type { Pod } from '../../gen/kubernetes/types.ts';
import { setupFailedEvent } from '../../node/index.ts';
import { ComponentRunner } from '../component-runner.ts';
import { boot, type AgentIdentity } from './boot.ts';
import { createAgent, type Agent, type AgentViews } from './create-agent.ts';
import type { Platform } from './platform.ts';

export interface RunningAgent {
  readonly views: AgentViews;
  pods(): readonly Pod[];
  stop(): Promise<void>;
}

const componentStopMs = 5_000;
const failureReportMs = 2_000;

/**
 * Boots, composes and starts the agent; if it cannot start it is stopped, and its node gets an event with the reason.
 */
export async function startAgent(
  settings: Settings,
  platform: Platform,
  identity: AgentIdentity,
  signal: AbortSignal,
): Promise<RunningAgent> {
  const { clock, log } = platform;
  // A component may call the runtime once in its start.
  const startMs = hungAfterMs(settings.config.runtimeRequestTimeout.toMillis());
  const runner = new ComponentRunner({ clock, log, stopMs: componentStopMs, startMs });
  const stop = (): Promise<void> => runner.stop();
  try {
    const facts = await boot(settings, platform, identity, runner, signal);
    const agent = createAgent(settings, platform, facts, signal);
    await startComponents(agent, platform, runner, signal);
    return { views: agent.views, pods: () => agent.views.pods.pods(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startComponents(
  agent: Agent,
  platform: Platform,
  runner: ComponentRunner,
  signal: AbortSignal,
): Promise<void> {
  try {
    await runner.start(agent.components, signal);
  } catch (error) {
    if (!signal.aborted) await reportStartFailure(agent.views, platform, error);
    throw error;
  }
}

/** Records an event with the reason why the agent could not start, as far as the API server accepts it. */
async function reportStartFailure(
  { nodeEvents, api }: AgentViews,
  { clock, log }: Platform,
  error: unknown,
): Promise<void> {
  nodeEvents.record(setupFailedEvent(describeError(error)));
  if (api === undefined) return;
  try {
    await withTimeout(clock, failureReportMs, (signal) => api.recorder.flushed(signal));
  } catch (failure) {
    log.warn('The event of the failed start could not be recorded', { err: messageOf(failure) });
  }
}
