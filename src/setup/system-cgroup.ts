import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import { TubeletError } from '../base/errors.ts';
import type { Heartbeats, Round } from '../base/heartbeats.ts';
import type { Log } from '../base/log.ts';
import { superviseLoop, type LoopHandle } from '../base/loop.ts';
import type { Random } from '../base/random.ts';
import type { MachineProcesses } from './ports.ts';

interface SystemCgroupDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly processes: MachineProcesses;
  /** systemCgroups */
  readonly configured: string;
}

const periodMs = 60_000;
/** Processes start others while they are being moved. */
const passes = 11;

/**
 * systemCgroups: what runs in the root of the cgroups, where nothing limits it, is moved into this one, each minute. The
 * kernel's own threads stay: limiting them would hold up the machine. So does the first process.
 */
export class SystemCgroup implements Component {
  readonly name = 'system-cgroup';
  readonly #deps: SystemCgroupDeps;
  readonly #path: string;
  readonly #stopped = new AbortController();
  #failing = false;
  #loop: LoopHandle | undefined;

  constructor(deps: SystemCgroupDeps) {
    this.#deps = deps;
    const parts = deps.configured.split('/').filter((part) => part !== '');
    this.#path = `/${parts.join('/')}`;
  }

  async start(): Promise<void> {
    const { clock, random, log, heartbeats } = this.#deps;
    if (this.#path === '/') throw new TubeletError('invalid', 'system container cannot be root ("/")');
    await this.#ensure();
    const body = async (signal: AbortSignal, round: Round): Promise<void> => {
      await round.waitFor(clock.sleep(periodMs, signal));
      await this.#ensure(round);
    };
    this.#loop = superviseLoop({ name: this.name, heartbeats, clock, random, log, signal: this.#stopped.signal, body });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop?.done;
  }

  /** A failure is logged only: pods run beside processes without limits. */
  async #ensure(round?: Round): Promise<void> {
    const { log, configured } = this.#deps;
    const problem = await this.#moveAll(round);
    if (problem !== undefined && !this.#failing) {
      log.error(problem, 'Failed to ensure state', { containerName: configured });
    }
    this.#failing = problem !== undefined;
  }

  /** Answers what failed in the last pass, for what failed before may have worked since. */
  async #moveAll(round: Round | undefined): Promise<unknown> {
    const { log, processes } = this.#deps;
    let problem: unknown;
    try {
      for (let pass = 1; pass <= passes; pass++) {
        const pids = processes.inRoot().filter((pid) => pid > 1 && !processes.isKernelThread(pid));
        if (pids.length === 0) return undefined;
        log.debug(3, 'Moving non-kernel processes', { pids });
        processes.make(this.#path);
        problem = undefined;
        for (const pid of pids) {
          round?.beat();
          problem = (await this.#move(pid)) ?? problem;
        }
      }
    } catch (error) {
      return error;
    }
    return problem;
  }

  async #move(pid: number): Promise<unknown> {
    const { processes } = this.#deps;
    try {
      await processes.enter(this.#path, pid);
      return undefined;
    } catch (cause) {
      const message = `failed to move PID ${pid} into the system container "${this.#path}"`;
      return new TubeletError('internal', message, { cause });
    }
  }
}
