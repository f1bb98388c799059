import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { StorageAnswer, StorageRequest } from './storage-messages.ts';

/** Another process that makes calls for this one. */
export interface StorageProcess {
  send(request: StorageRequest): void;
  /** An idle process does not keep this one's event loop alive. */
  setBusy(isBusy: boolean): void;
  kill(): void;
}

export interface StorageProcessEvents {
  onAnswer(answer: StorageAnswer): void;
  /** Called once; also when the process could not be started. */
  onExit(how: string): void;
}

/**
 * Each call that hangs occupies one thread, and a walk through a tree up to sixteen: enough for all calls that are
 * admitted at one time. A waiting thread takes a few kilobytes.
 */
const threads = 128;
const engine = ['--max-old-space-size=64', '--max-semi-space-size=1', '--v8-pool-size=0', '--no-warnings'];

/** It inherits no environment and no output: a process that cannot be killed must hold no pipe of another. */
export async function startStorageProcess(events: StorageProcessEvents): Promise<StorageProcess> {
  // A chunk of its own in every bundle, so that its address can be passed to a process.
  const { workerUrl, workerRole } = await import('./storage-worker.ts');
  const child = fork(fileURLToPath(workerUrl), [workerRole], {
    execArgv: engine,
    env: { UV_THREADPOOL_SIZE: String(threads) },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  let isOver = false;
  const end = (how: string): void => {
    if (isOver) return;
    isOver = true;
    events.onExit(how);
  };
  child.on('message', (answer: StorageAnswer) => events.onAnswer(answer));
  child.on('exit', (code, signal) => end(signal ?? `exit status ${code}`));
  child.on('error', ({ message }) => {
    if (child.pid === undefined) end(message);
  });
  return {
    send(request) {
      // A request that cannot be sent any more ends with the process, whose exit is reported.
      if (child.connected) child.send(request, () => undefined);
    },
    setBusy(isBusy) {
      for (const side of [child, child.channel]) {
        if (isBusy) side?.ref();
        else side?.unref();
      }
    },
    kill() {
      child.kill('SIGKILL');
    },
  };
}
