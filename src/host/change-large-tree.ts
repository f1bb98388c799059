import { Worker } from 'node:worker_threads';
import { TubeletError } from '../base/errors.ts';
import type { TreeNews, TreeTask } from './change-tree-thread.ts';

/** The thread keeps nothing but the way down to where it is. */
const memory = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 };

/**
 * Changes a tree in a thread of its own, with calls that wait: a fifth of the work of asynchronous ones, while nobody else
 * waits for a slow disk. Ends when the thread has ended, so that nobody changes anything afterwards.
 */
export async function changeLargeTree(
  task: TreeTask,
  signal: AbortSignal,
  processed: (entries: number) => void,
): Promise<void> {
  // A chunk of its own in every bundle, so that its address can be that of a thread.
  const { threadUrl } = await import('./change-tree-thread.ts');
  signal.throwIfAborted();
  const worker = new Worker(new URL(threadUrl), { workerData: task, resourceLimits: memory, env: {}, execArgv: [] });
  const giveUp = (): void => void worker.terminate();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    await ended(worker, processed);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

function ended(worker: Worker, processed: (entries: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let outcome: 'done' | Error | undefined;
    worker.on('message', (news: TreeNews) => {
      if ('processed' in news) processed(news.processed);
      if ('done' in news) outcome = 'done';
      if ('failed' in news) outcome = Object.assign(new Error(news.failed), { code: news.code });
    });
    worker.on('error', (error: Error) => void (outcome = error));
    worker.on('exit', () => {
      if (outcome === 'done') resolve();
      else reject(outcome ?? new TubeletError('cancelled', 'the thread that changed a tree was ended'));
    });
  });
}
