import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export interface HealthReport {
  readonly asked: number;
  readonly slowestMs: number;
  /** How late the asking process was at most: the machine's own delay. */
  readonly lateMs: number;
  readonly failures: readonly string[];
}

/** Asks for health from a process of its own, until it is stopped. */
export class HealthWatch {
  readonly #child: ChildProcess;
  readonly #ended: Promise<HealthReport>;

  private constructor(url: string) {
    const child = spawn(process.execPath, ['test/limits/support/watch-health.mjs', url], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child = child;
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    this.#ended = once(child, 'close').then(() => JSON.parse(text) as HealthReport);
  }

  static start(url: string): HealthWatch {
    return new HealthWatch(url);
  }

  stop(): Promise<HealthReport> {
    this.#child.stdin?.end();
    return this.#ended;
  }
}
