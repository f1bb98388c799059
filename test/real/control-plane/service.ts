import { basename, isAbsolute } from 'node:path';
import { spawnDetached, tailOf, waitForEnd, type DetachedProcess } from '../../../src/up/detached-process.ts';
import { isAlive, signalProcess } from '../../../src/up/process-table.ts';
import { clock, until } from '../../support/real-wait.ts';
import type { ClusterFolder } from './cluster-folder.ts';
import { programPath, type ProgramName } from './programs.ts';

/** Generous: the machine may be busy with other things. */
const readyTimeoutMs = 120_000;
const stopPatienceMs = 30_000;
/** A kill is not something to argue with; only the kernel may need a moment. */
const killPatienceMs = 10_000;

export interface ServicePlan {
  /** One that the control plane has, or the path of another. */
  readonly program: ProgramName | `/${string}`;
  readonly args: readonly string[];
  readonly ready: () => Promise<boolean>;
}

/** One program of the control plane, which comes and goes with the same flags. Its words go to a log of its own. */
export class Service {
  readonly #folder: ClusterFolder;
  readonly #plan: ServicePlan;
  #process: DetachedProcess | undefined;

  constructor(folder: ClusterFolder, plan: ServicePlan) {
    this.#folder = folder;
    this.#plan = plan;
  }

  get name(): string {
    return basename(this.#plan.program);
  }

  get logFile(): string {
    return this.#folder.file(`${this.name}.log`);
  }

  get running(): boolean {
    return this.#process !== undefined && isAlive(this.#process.identity);
  }

  /** Returns when it is ready; fails at once, with its last words, when it ends before. */
  async start(): Promise<void> {
    if (this.running) throw new Error(`${this.name} runs already`);
    // The kernel ends it when this process is killed, which could not do it anymore.
    const { program } = this.#plan;
    const path = isPath(program) ? program : programPath(program);
    const args = ['--pdeathsig', 'KILL', '--', path, ...this.#plan.args];
    this.#process = await spawnDetached({ program: '/usr/bin/setpriv', args, logFile: this.logFile });
    this.#folder.record(this.name, this.#process.identity);
    const answer = await until(
      `${this.name} is ready`,
      async () => (this.running ? (await this.#plan.ready()) && 'ready' : 'ended'),
      { timeoutMs: readyTimeoutMs, state: () => tailOf(this.logFile) },
    );
    if (answer === 'ended') throw new Error(`${this.name} ended while it started: ${await tailOf(this.logFile, 10)}`);
  }

  /** Asks it to end, and waits until it has. */
  async stop(): Promise<void> {
    if (!(await this.#end('SIGTERM', stopPatienceMs))) await this.kill();
  }

  async kill(): Promise<void> {
    if (!(await this.#end('SIGKILL', killPatienceMs))) throw new Error(`${this.name} outlived a kill`);
  }

  /** Holds it still while something is done; it does not notice. */
  async frozen<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#signal('SIGSTOP');
    try {
      return await work();
    } finally {
      this.#signal('SIGCONT');
    }
  }

  async #end(signal: NodeJS.Signals, patienceMs: number): Promise<boolean> {
    return (
      this.#process === undefined || !this.#signal(signal) || waitForEnd([this.#process.identity], clock, patienceMs)
    );
  }

  #signal(signal: NodeJS.Signals): boolean {
    return this.#process !== undefined && signalProcess(this.#process.identity, signal);
  }
}

function isPath(program: string): program is `/${string}` {
  return isAbsolute(program);
}
