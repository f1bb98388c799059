import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import type { Failure } from './behaviour.ts';
import { untilAborted } from './faults.ts';
import type { HandlersFor } from './handlers.ts';
import type { FakeContainer, FakeState } from './state.ts';
import { stateName } from './views.ts';

/** How a command in a container ends. */
export interface ExecOutcome {
  readonly exitCode?: number;
  readonly stdout?: string;
  readonly stderr?: string;
  readonly takesMs?: number;
  readonly hangs?: boolean;
  /** The command cannot even be run. */
  readonly failure?: Failure;
}

type ExecRule = (command: readonly string[], container: FakeContainer) => ExecOutcome | undefined;

/** What commands do in fake containers. The rule added last that has an answer counts; without one they succeed. */
export class FakeExecs {
  readonly #rules: ExecRule[] = [];
  /** Where streaming sessions are served; tests with a streaming server put its address here. */
  streamingBase = 'http://127.0.0.1:1';

  on(rule: ExecRule): void {
    this.#rules.unshift(rule);
  }

  /** The outcomes of commands in containers of a name, in turn; the last one stays. */
  forContainer(name: string, ...outcomes: readonly ExecOutcome[]): void {
    let next = 0;
    this.on((_, container) =>
      container.config.metadata?.name === name ? outcomes[Math.min(next++, outcomes.length - 1)] : undefined,
    );
  }

  outcome(command: readonly string[], container: FakeContainer): ExecOutcome {
    for (const rule of this.#rules) {
      const outcome = rule(command, container);
      if (outcome !== undefined) return outcome;
    }
    return {};
  }
}

interface ExecDeps {
  readonly clock: Clock;
  readonly state: FakeState;
  readonly execs: FakeExecs;
}

export function execHandlers(deps: ExecDeps): HandlersFor<'execSync' | 'exec' | 'attach' | 'portForward'> {
  const { state } = deps;
  let tokens = 0;
  const url = (what: string): { url: string } => ({ url: `${deps.execs.streamingBase}/${what}/token${++tokens}` });
  return {
    async execSync({ containerId, cmd, timeout }, signal) {
      const container = running(state, containerId, 'failed to exec in container: ');
      const outcome = deps.execs.outcome(cmd, container);
      if (outcome.failure !== undefined) throw new TubeletError(outcome.failure.kind, outcome.failure.message);
      await passTime(deps, outcome, Number(timeout), signal);
      return {
        exitCode: outcome.exitCode ?? 0,
        stdout: Buffer.from(outcome.stdout ?? ''),
        stderr: Buffer.from(outcome.stderr ?? ''),
      };
    },
    exec({ containerId }) {
      running(state, containerId, '');
      return url('exec');
    },
    attach({ containerId }) {
      running(state, containerId, '');
      return url('attach');
    },
    portForward({ podSandboxId }) {
      const sandbox = state.sandbox(podSandboxId);
      if (sandbox.state !== 'ready') throw new TubeletError('internal', `sandbox "${sandbox.id}" is not running`);
      return url('portforward');
    },
  };
}

function running(state: FakeState, containerId: string, prefix: string): FakeContainer {
  const container = state.container(containerId);
  if (container.state === 'running') return container;
  throw new TubeletError('internal', `${prefix}container is in ${stateName(container)} state`);
}

/** The time the command takes, or the timeout that ends it before; zero seconds are no timeout. */
async function passTime(deps: ExecDeps, outcome: ExecOutcome, seconds: number, signal: AbortSignal): Promise<void> {
  const takesMs = outcome.hangs === true ? Number.POSITIVE_INFINITY : (outcome.takesMs ?? 0);
  if (seconds > 0 && takesMs > seconds * 1_000) {
    await deps.clock.sleep(seconds * 1_000, signal);
    const words = `failed to exec in container: timeout ${seconds}s exceeded: context deadline exceeded`;
    throw new TubeletError('timeout', words);
  }
  if (takesMs === Number.POSITIVE_INFINITY) await untilAborted(signal);
  if (takesMs > 0) await deps.clock.sleep(takesMs, signal);
}
