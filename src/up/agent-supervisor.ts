import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import { spawnDetached, tailOf, type DetachedProcess, type ProcessEnd } from './detached-process.ts';
import type { JournalKeeper } from './journal.ts';

export interface AgentCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

interface AgentSupervisorDeps {
  readonly command: AgentCommand;
  readonly logFile: string;
  readonly keeper: JournalKeeper;
  readonly clock: Clock;
  /** Called when the agent has ended and is being restarted. */
  readonly onRestart: (reason: string) => void;
}

const shortLifeMs = 10_000;
const maxShortLives = 4;
const firstPauseMs = 1_000;
const maxPauseMs = 30_000;

/** The pause before the agent is restarted; undefined when it has failed too often in a row. */
export function restartPause(shortLives: number): number | undefined {
  if (shortLives >= maxShortLives) return undefined;
  return Math.min(maxPauseMs, firstPauseMs * 2 ** Math.max(0, shortLives - 1));
}

/**
 * Keeps the agent running. Pods do not depend on its life, so an agent that ends is simply restarted.
 *
 *   running ──ends──> pausing ──> running
 *                       └──ends at once, again and again──> failed
 */
export class AgentSupervisor {
  readonly #deps: AgentSupervisorDeps;
  readonly #over = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(deps: AgentSupervisorDeps) {
    this.#deps = deps;
  }

  /** Rejects when the agent cannot be kept running, resolves after `stop`. */
  get failed(): Promise<void> {
    return this.#running;
  }

  async start(): Promise<void> {
    const first = await this.#launch();
    this.#running = this.#keepRunning(first, this.#over.signal);
    // `failed` may have no reader yet; its rejection must not count as unhandled.
    this.#running.catch(() => undefined);
  }

  /** Ends the supervision, not the agent: the removal ends that too. */
  async stop(): Promise<void> {
    this.#over.abort();
    await this.#running.catch(() => undefined);
  }

  async #keepRunning(first: DetachedProcess, signal: AbortSignal): Promise<void> {
    const { clock, logFile, onRestart } = this.#deps;
    let shortLives = 0;
    let began = clock.monotonic();
    for (let agent = first; ; agent = await this.#launch()) {
      const end = await endOrAbort(agent.exited, signal);
      if (end === undefined) return;
      shortLives = clock.monotonic() - began < shortLifeMs ? shortLives + 1 : 0;
      const reason = end.signal === null ? `ended with exit code ${end.code}` : `was ended by ${end.signal}`;
      const pause = restartPause(shortLives);
      if (pause === undefined) {
        throw new TubeletError('unavailable', `the agent ${reason}; the end of its log:\n${await tailOf(logFile)}`);
      }
      onRestart(reason);
      try {
        await clock.sleep(pause, signal);
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      began = clock.monotonic();
    }
  }

  async #launch(): Promise<DetachedProcess> {
    const { command, keeper, logFile } = this.#deps;
    const agent = await spawnDetached({
      program: command.program,
      args: command.args,
      env: command.env ?? {},
      logFile,
    });
    await keeper.update((journal) => ({ ...journal, processes: { ...journal.processes, agent: agent.identity } }));
    return agent;
  }
}

/** How the process ended; undefined when the signal aborted first. */
async function endOrAbort(exited: Promise<ProcessEnd>, signal: AbortSignal): Promise<ProcessEnd | undefined> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<undefined>((resolve) => {
    onAbort = () => resolve(undefined);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return signal.aborted ? undefined : await Promise.race([exited, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}
