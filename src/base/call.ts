/** What every call across a process border takes besides its request. */
export interface CallOptions {
  /** Gives the call up. */
  readonly signal?: AbortSignal;
  /** Overrides the verb's own deadline. */
  readonly timeoutMs?: number;
  /** Which span of a trace the call belongs to, for the other side. */
  readonly traceparent?: string;
}
