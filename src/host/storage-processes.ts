import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { StorageAnswer, StorageRequest } from './storage-messages.ts';
import type { StorageProcess, StorageProcessEvents } from './storage-process.ts';

export type StartStorageProcess = (events: StorageProcessEvents) => Promise<StorageProcess>;

interface StorageProcessesDeps {
  readonly log: Log;
  readonly start: StartStorageProcess;
  readonly onAnswer: (answer: StorageAnswer) => void;
  /** The process that ran these calls has ended. */
  readonly onLost: (ids: readonly number[], how: string) => void;
}

/** Processes that were killed and have not ended: a thread in the kernel may not be interruptible. */
const maxUnkillable = 2;

interface Running {
  readonly started: Promise<StorageProcess | undefined>;
  readonly calls: Set<number>;
  /** Calls that are waited for before the process is killed. */
  awaited?: Set<number>;
}

/**
 * The process that makes calls, started with the first one and kept. A process whose threads are occupied by abandoned
 * calls is replaced: the next call starts another, and the old one is killed after its last useful call has ended.
 */
export class StorageProcesses {
  readonly #deps: StorageProcessesDeps;
  readonly #replaced = new Set<Running>();
  #current: Running | undefined;
  #stopped = false;

  constructor(deps: StorageProcessesDeps) {
    this.#deps = deps;
  }

  ask(request: Extract<StorageRequest, { readonly id: number }>): void {
    this.#current ??= this.#start();
    const running = this.#current;
    running.calls.add(request.id);
    void running.started.then((process) => {
      process?.setBusy(true);
      process?.send(request);
    });
  }

  /** Sends a request without an answer to whichever process it concerns. */
  post(request: StorageRequest): void {
    for (const running of [this.#current, ...this.#replaced]) {
      void running?.started.then((process) => process?.send(request));
    }
  }

  /** Replaces the process; the named calls are still waited for. */
  replace(awaited: readonly number[]): void {
    const running = this.#current;
    if (running === undefined || this.#replaced.size >= maxUnkillable) return;
    this.#current = undefined;
    this.#replaced.add(running);
    running.awaited = new Set(awaited.filter((id) => running.calls.has(id)));
    this.#killUnlessAwaited(running);
  }

  stop(): void {
    this.#stopped = true;
    for (const running of [this.#current, ...this.#replaced]) {
      void running?.started.then((process) => process?.kill());
    }
  }

  #start(): Running {
    const calls = new Set<number>();
    const onExit = (how: string): void => {
      this.#replaced.delete(running);
      if (this.#current === running) this.#current = undefined;
      const lost = [...calls];
      calls.clear();
      if (!this.#stopped) this.#deps.log.debug(2, 'The process for storage ended', { how, calls: lost.length });
      this.#deps.onLost(lost, how);
    };
    const started = this.#deps
      .start({ onAnswer: (answer) => this.#answered(running, answer), onExit })
      .catch((error: unknown) => {
        onExit(messageOf(error));
        return undefined;
      });
    const running: Running = { started, calls };
    return running;
  }

  #answered(running: Running, answer: StorageAnswer): void {
    if (!('processed' in answer) && running.calls.delete(answer.id)) {
      running.awaited?.delete(answer.id);
      if (running.calls.size === 0) void running.started.then((process) => process?.setBusy(running.calls.size > 0));
      this.#killUnlessAwaited(running);
    }
    this.#deps.onAnswer(answer);
  }

  #killUnlessAwaited({ started, awaited }: Running): void {
    if (awaited?.size === 0) void started.then((process) => process?.kill());
  }
}
