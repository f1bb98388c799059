/** What logind gives a program that wants to act before the machine goes down. */
export interface Logind {
  /** For how long a delay lock can hold a shutdown up. */
  inhibitDelayMaxMs(): Promise<number>;
  /** A delay lock on shutdown, held until it is released, also when the bus is lost. A second release does nothing. */
  inhibitShutdown(who: string, why: string): Promise<{ release(): void }>;
  /** Whether it has announced a shutdown that is still under way. */
  isShuttingDown(): Promise<boolean>;
  /**
   * Calls `onChange` at each PrepareForShutdown: true when the machine is about to go down, false when that was called off.
   * Resolves when nothing can be missed any more. `lost` resolves when no further call will come: the bus is gone, or the
   * signal was aborted.
   */
  watchShutdown(onChange: (active: boolean) => void, signal: AbortSignal): Promise<{ readonly lost: Promise<void> }>;
  /** Has logind read its configuration anew. */
  reload(): Promise<void>;
}
