import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { messageOf } from '../../base/errors.ts';
import type { Heartbeats, Round } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import { superviseLoop, type LoopHandle } from '../../base/loop.ts';
import type { Random } from '../../base/random.ts';
import { accountedCgroup } from '../../model/process-cgroups.ts';
import type { ProcessTree } from './ports.ts';

interface AgentCgroupDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly tree: ProcessTree;
  /** kubeletCgroups: the cgroup that the agent is to run in; empty for the one it was started in. */
  readonly configured: string;
}

/** An operator may move the agent to another cgroup. */
const ensurePeriodMs = 60_000;
const detectPeriodMs = 300_000;

/** Keeps the agent in its configured cgroup, or detects the one it is in: the stats report its usage under that name. */
export class AgentCgroup implements Component {
  readonly name = 'agent-cgroup';
  readonly #deps: AgentCgroupDeps;
  readonly #configured: string;
  readonly #stopped = new AbortController();
  #current = '';
  /** The last reported problem, so that it is reported once. */
  #reported: string | undefined;
  #loop: LoopHandle | undefined;

  constructor(deps: AgentCgroupDeps) {
    this.#deps = deps;
    const parts = deps.configured.split('/').filter((part) => part !== '');
    this.#configured = parts.length === 0 ? '' : `/${parts.join('/')}`;
  }

  /** The cgroup whose usage is the agent's; empty while none is known. */
  path(): string {
    return this.#configured === '' ? this.#current : this.#configured;
  }

  async start(): Promise<void> {
    const { clock, random, log, heartbeats } = this.#deps;
    await this.#round();
    const pauseMs = this.#configured === '' ? detectPeriodMs : ensurePeriodMs;
    const body = async (signal: AbortSignal, round: Round): Promise<void> => {
      await round.waitFor(clock.sleep(pauseMs, signal));
      await this.#round();
    };
    this.#loop = superviseLoop({ name: this.name, heartbeats, clock, random, log, signal: this.#stopped.signal, body });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop?.done;
  }

  /** Failures are logged only: pods run without the agent's cgroup. */
  async #round(): Promise<void> {
    try {
      if (this.#configured === '') this.#detect();
      else await this.#ensure();
    } catch (error) {
      const message = messageOf(error);
      if (message !== this.#reported)
        this.#deps.log.error(error, 'Failed to ensure state', { kubeletCgroups: this.#configured });
      this.#reported = message;
    }
  }

  async #ensure(): Promise<void> {
    const { tree, log } = this.#deps;
    const path = this.#configured;
    if (!tree.isInside(path)) {
      tree.make(path);
      await tree.enter(path);
      log.info('Moved the agent to its cgroup', { cgroup: path });
    }
    this.#reported = undefined;
  }

  #detect(): void {
    const { tree, log } = this.#deps;
    const found = accountedCgroup(tree.own(), tree.version);
    this.#current = 'path' in found ? found.path : '';
    const problem = 'problem' in found ? found.problem : undefined;
    if (problem !== undefined && problem !== this.#reported) {
      log.info('The usage of the agent is not reported, for it has no cgroup of its own', { reason: problem });
    }
    this.#reported = problem;
  }
}
