import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { clock, until } from './real-wait.ts';

/** The program as users start it. Tests run in the folder of the checkout. */
export const tubelet = resolve('bin/tubelet');

/** The machine under the tests is not the agent's to set up. */
const ownEnvironment = { TUBELET_KERNEL_TUNABLES: 'keep' };

interface ProgramEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly ms: number;
}

/** A program that was started, with all it has said so far on both outputs. */
export class Program {
  readonly #child: ChildProcess;
  readonly #began = clock.monotonic();
  readonly ended: Promise<ProgramEnd>;
  #text = '';

  constructor(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const [program = '', ...args] = words;
    this.#child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...ownEnvironment, ...env },
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#text += text;
      });
    }
    this.ended = once(this.#child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      ms: clock.monotonic() - this.#began,
    }));
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the program did not start');
    return this.#child.pid;
  }

  get text(): string {
    return this.#text;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Reads what it says no more, as a journal that hangs, or again. */
  stopReading(): void {
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.pause();
  }

  readAgain(): void {
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.resume();
  }

  /** What it says once it has said it, in all of its words or those behind `since`; fails at once when it ends before. */
  async said(pattern: RegExp, since = 0): Promise<RegExpExecArray> {
    const look = (): RegExpExecArray | undefined => pattern.exec(this.#text.slice(since)) ?? undefined;
    const state = (): string => this.#text.slice(-4_000);
    const found = await until(`${pattern} is said`, () => look() ?? (this.running ? undefined : 'ended'), { state });
    if (found !== 'ended') return found;
    // Its last words may come after its end.
    await this.ended;
    const late = look();
    if (late === undefined) throw new Error(`the program ended before it said ${pattern}: ${state()}`);
    return late;
  }

  /** Ends it if it has not ended, whatever it is doing. */
  async end(): Promise<void> {
    if (this.running) this.#child.kill('SIGKILL');
    await this.ended;
  }
}

export interface Ran extends ProgramEnd {
  readonly text: string;
}

/** Runs a program to its end. */
export async function run(words: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ran> {
  const program = new Program(words, env);
  const end = await program.ended;
  return { ...end, text: program.text };
}
