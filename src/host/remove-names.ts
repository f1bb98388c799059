import { Worker } from 'node:worker_threads';
import { TubeletError } from '../base/errors.ts';
import { Limiter } from '../base/limiter.ts';
import type { RemovalAnswer, RemovalTask } from './remove-names-thread.ts';

/** The thread keeps only one portion of names at a time. */
const memory = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 };
/** Removals with a thread; further ones do the same work in small steps here. */
const maxThreads = 4;
const threads = new Limiter(maxThreads);

/**
 * Removes many names of one folder in a thread of its own, with synchronous calls: a fifth of the work of asynchronous
 * ones, and faster than a process that keeps writing into the folder. The thread is made at its first use.
 */
export class NameRemover {
  #worker: Promise<Worker> | undefined;
  #release: (() => void) | undefined;

  /** Whether a thread exists or can be made at once. */
  get isReady(): boolean {
    return this.#worker !== undefined || threads.active < maxThreads;
  }

  /** Answers false when it did not reach the end in time. One task at a time. */
  async run(task: RemovalTask): Promise<boolean> {
    this.#worker ??= this.#start();
    const worker = await this.#worker;
    return new Promise((resolve, reject) => {
      const onMessage = (answer: RemovalAnswer): void => {
        letGo();
        if ('done' in answer) resolve(answer.done);
        else reject(Object.assign(new Error(answer.failed), { code: answer.code }));
      };
      const onEnd = (error: unknown): void => {
        letGo();
        const ended = new TubeletError('cancelled', 'the thread that removes names ended');
        reject(error instanceof Error ? error : ended);
      };
      const letGo = (): void => {
        worker.off('message', onMessage).off('error', onEnd).off('exit', onEnd);
      };
      worker.on('message', onMessage).on('error', onEnd).on('exit', onEnd);
      worker.postMessage(task);
    });
  }

  /** Must always be called; the thread has ended when this resolves. */
  async close(): Promise<void> {
    try {
      await (await this.#worker)?.terminate();
    } finally {
      this.#release?.();
    }
  }

  async #start(): Promise<Worker> {
    // A chunk of its own in every bundle, so that its address can be passed to a thread.
    const { removalThread, threadUrl } = await import('./remove-names-thread.ts');
    await new Promise<void>((resolve) => {
      void threads.run(
        () =>
          new Promise<void>((release) => {
            this.#release = release;
            resolve();
          }),
      );
    });
    return new Worker(new URL(threadUrl), { workerData: removalThread, resourceLimits: memory, env: {}, execArgv: [] });
  }
}
