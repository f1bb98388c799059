import type { TubeletError } from '../base/errors.ts';
import type { Logind } from '../model/logind.ts';

interface FakeLock {
  readonly who: string;
  readonly why: string;
}

interface Watcher {
  readonly onChange: (active: boolean) => void;
  readonly lose: () => void;
}

/** logind in memory: a test has it announce a shutdown, call it off, or lose the bus. */
export class FakeLogind implements Logind {
  /** Delay locks that are held. */
  readonly locks = new Set<FakeLock>();
  readonly #watchers = new Set<Watcher>();
  /** What its configuration says; known to it after a reload. */
  configuredDelayMaxMs: () => number = () => 5_000;
  reloads = 0;
  /** Answers why a call fails. */
  refuse: (verb: keyof Logind) => TubeletError | undefined = () => undefined;
  #delayMaxMs: number | undefined;
  #isShuttingDown = false;

  get watchers(): number {
    return this.#watchers.size;
  }

  /** PrepareForShutdown, to all that watch. */
  prepareForShutdown(active: boolean): void {
    this.#isShuttingDown = active;
    for (const { onChange } of this.#watchers) onChange(active);
  }

  /** Ends all watches; locks are still held. */
  loseBus(): void {
    for (const { lose } of this.#watchers) lose();
  }

  async inhibitDelayMaxMs(): Promise<number> {
    this.#check('inhibitDelayMaxMs');
    return (this.#delayMaxMs ??= this.configuredDelayMaxMs());
  }

  async inhibitShutdown(who: string, why: string): Promise<{ release(): void }> {
    this.#check('inhibitShutdown');
    const lock = { who, why };
    this.locks.add(lock);
    return { release: () => void this.locks.delete(lock) };
  }

  async isShuttingDown(): Promise<boolean> {
    this.#check('isShuttingDown');
    return this.#isShuttingDown;
  }

  async watchShutdown(
    onChange: (active: boolean) => void,
    signal: AbortSignal,
  ): Promise<{ readonly lost: Promise<void> }> {
    this.#check('watchShutdown');
    signal.throwIfAborted();
    const lost = new Promise<void>((resolve) => {
      const watcher = {
        onChange,
        lose: () => {
          this.#watchers.delete(watcher);
          resolve();
        },
      };
      this.#watchers.add(watcher);
      signal.addEventListener('abort', watcher.lose, { once: true });
    });
    return { lost };
  }

  async reload(): Promise<void> {
    this.#check('reload');
    this.reloads++;
    this.#delayMaxMs = this.configuredDelayMaxMs();
  }

  #check(verb: keyof Logind): void {
    const why = this.refuse(verb);
    if (why !== undefined) throw why;
  }
}
