import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { clock, until } from './real-wait.ts';

/** The program as users start it. Tests run in the folder of the checkout. */
export const tubelet = resolve('bin/tubelet');

export interface ProgramEnd {
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
    this.#child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
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

  /** What it says once it has said it; fails at once when the program ends first. */
  async said(pattern: RegExp, timeoutMs?: number): Promise<RegExpExecArray> {
    const found = await until(
      `${pattern} is said`,
      () => pattern.exec(this.#text) ?? (this.running ? undefined : 'ended'),
      { ...(timeoutMs !== undefined && { timeoutMs }), state: () => this.#text.slice(-4_000) },
    );
    if (found !== 'ended') return found;
    // Its last words may come after its end.
    await this.ended;
    const late = pattern.exec(this.#text);
    if (late === null) throw new Error(`the program ended before it said ${pattern}: ${this.#text.slice(-4_000)}`);
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
