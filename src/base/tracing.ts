/**
 * The tracing port. telemetry/ exports spans to a collector; components get a `Tracer` in their deps. A span that
 * is not sampled costs next to nothing, so callers need not check whether tracing is on.
 */
export interface Tracer {
  /** Runs the work as one span: its time, its failure, and as parent of the spans begun inside. */
  span<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  /** `client`: a call to another process. `server`: a call from one. */
  readonly kind?: 'internal' | 'client' | 'server';
  readonly attributes?: SpanAttributes;
  /** The header `traceparent` that a caller from outside sent. */
  readonly from?: string | undefined;
}

export interface Span {
  set(attributes: SpanAttributes): void;
  /** For the header `traceparent` of a call to another process; nothing when tracing is off. */
  readonly traceparent: string | undefined;
}
