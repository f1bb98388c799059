import type { Clock } from './clock.ts';

/**
 * `Clock.sleep` on top of `Clock.after`, shared by the clocks. The abort listener goes away with the sleep, because
 * signals live as long as the process and sleeps come by the million.
 */
export function sleepBy(after: Clock['after'], ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal === undefined) {
      after(ms, resolve);
      return;
    }
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      cancel();
      reject(signal.reason);
    };
    const cancel = after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
