import { raceAbort, withTimeout } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { isKind } from '../../base/errors.ts';
import type { ContainerId } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { PodFields } from '../../model/pod-log.ts';
import type { LogSources } from './ports.ts';

interface RunningChecksDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly sources: Pick<LogSources, 'isRunning'>;
}

/** Asks whether a container runs, on behalf of one follower. */
export interface RunningCheck {
  isRunning(signal: AbortSignal): Promise<boolean>;
  release(): void;
}

interface Shared {
  followers: number;
  askedAt: number;
  answer: Promise<boolean>;
}

const askTimeoutMs = 10_000;
/** An answer serves all followers of the container that ask within this time. */
const freshMs = 900;

/** However many follow a container, the runtime is asked about it once a second. */
export class RunningChecks {
  readonly #deps: RunningChecksDeps;
  readonly #shared = new Map<ContainerId, Shared>();

  constructor(deps: RunningChecksDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#shared.size;
  }

  follow(id: ContainerId, named: PodFields): RunningCheck {
    const shared = this.#shared.get(id) ?? {
      followers: 0,
      askedAt: Number.NEGATIVE_INFINITY,
      answer: Promise.resolve(true),
    };
    this.#shared.set(id, shared);
    shared.followers++;
    let released = false;
    return {
      isRunning: (signal) => raceAbort(this.#ask(id, named, shared), signal),
      release: () => {
        if (released) return;
        released = true;
        if (--shared.followers === 0) this.#shared.delete(id);
      },
    };
  }

  #ask(id: ContainerId, named: PodFields, shared: Shared): Promise<boolean> {
    const now = this.#deps.clock.monotonic();
    if (now - shared.askedAt >= freshMs) {
      shared.askedAt = now;
      shared.answer = this.#isRunning(id, named);
    }
    return shared.answer;
  }

  /** While the runtime cannot say, its containers most likely go on. */
  async #isRunning(id: ContainerId, named: PodFields): Promise<boolean> {
    const { clock, log, sources } = this.#deps;
    try {
      return await withTimeout(clock, askTimeoutMs, (signal) => sources.isRunning(id, signal));
    } catch (error) {
      if (isKind(error, 'notFound')) return false;
      log.debug(2, 'Cannot find out whether a followed container runs', { ...named, containerID: id, err: error });
      return true;
    }
  }
}
