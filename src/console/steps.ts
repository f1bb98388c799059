import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Screen } from './pod-view.ts';
import { clip } from './table.ts';

/** Shows one line per step of work: the step, its progress, and how long it took. */
export class StepPrinter {
  readonly #screen: Screen;
  readonly #clock: Clock;

  constructor(screen: Screen, clock: Clock) {
    this.#screen = screen;
    this.#clock = clock;
  }

  /** A line that is not a step. */
  note(text: string): void {
    this.#screen.write(`${text}\n`);
  }

  /** Runs the work under its title. `progress` replaces what was last said about how far it is. */
  async step<Result>(title: string, work: (progress: (text: string) => void) => Promise<Result>): Promise<Result> {
    const began = this.#clock.monotonic();
    const line = new StepLine(this.#screen, title);
    line.show('');
    try {
      const result = await work((text) => line.show(text));
      line.end(true, formatSeconds(this.#clock.monotonic() - began));
      return result;
    } catch (error) {
      line.end(false, describeError(error));
      throw error;
    }
  }
}

/** The line of one step: redrawn on a terminal, elsewhere written once when it is known how the step ended. */
class StepLine {
  readonly #screen: Screen;
  readonly #title: string;

  constructor(screen: Screen, title: string) {
    this.#screen = screen;
    this.#title = title;
  }

  show(detail: string): void {
    if (!this.#screen.isTerminal) return;
    const text = `… ${this.#title}${detail === '' ? '' : `: ${detail}`}`;
    this.#screen.write(`\r${clip(text, this.#screen.size().width - 1)}\u001B[K`);
  }

  end(ok: boolean, detail: string): void {
    const line = this.#screen.isTerminal
      ? `\r\u001B[K${ok ? '✓' : '✗'} ${this.#title}: ${detail}`
      : `${this.#title}: ${ok ? `done in ${detail}` : `failed: ${detail}`}`;
    this.#screen.write(`${line}\n`);
  }
}

/** 40 ms, 0.8 s, 12 s, 2 min 5 s. */
export function formatSeconds(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
