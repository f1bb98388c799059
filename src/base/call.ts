/** The options of every call to another process. */
export interface CallOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  /** Overrides the verb's own deadline. */
  readonly timeoutMs?: number;
  /** The span of a trace that the call belongs to, for the other side. */
  readonly traceparent?: string;
}
