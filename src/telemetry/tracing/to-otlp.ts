import type { SpanAttributes, SpanOptions } from '../../base/tracing.ts';
import type { ExportTraceServiceRequest, KeyValue, Span } from '../../gen/opentelemetry/trace.ts';
import type { TraceContext } from './trace-context.ts';

/** A span that is over. */
export interface FinishedSpan {
  readonly name: string;
  readonly kind: NonNullable<SpanOptions['kind']>;
  readonly context: TraceContext;
  readonly parentSpanId: string | undefined;
  /** Wall milliseconds, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  readonly failure: string | undefined;
}

const kinds = { internal: 1, server: 2, client: 3 } as const;
const errorCode = 2;

/** The message for a collector. */
export function toExportRequest(resource: SpanAttributes, spans: readonly FinishedSpan[]): ExportTraceServiceRequest {
  const scope = { name: 'tubelet', version: '' };
  return {
    resourceSpans: [
      { resource: { attributes: keyValues(resource) }, scopeSpans: [{ scope, spans: spans.map(toSpan) }] },
    ],
  };
}

function toSpan({ name, kind, context, parentSpanId, startMs, endMs, attributes, failure }: FinishedSpan): Span {
  return {
    traceId: Buffer.from(context.traceId, 'hex'),
    spanId: Buffer.from(context.spanId, 'hex'),
    parentSpanId: Buffer.from(parentSpanId ?? '', 'hex'),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(endMs),
    attributes: keyValues(attributes),
    status: failure === undefined ? undefined : { message: failure, code: errorCode },
  };
}

/** Milliseconds as whole microseconds first: more a number of this size cannot hold. */
const nanos = (ms: number): bigint => BigInt(Math.round(ms * 1_000)) * 1_000n;

function keyValues(attributes: SpanAttributes): KeyValue[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: string | number | boolean): NonNullable<KeyValue['value']> {
  const none = { stringValue: undefined, boolValue: undefined, intValue: undefined, doubleValue: undefined };
  if (typeof value === 'string') return { ...none, stringValue: value };
  if (typeof value === 'boolean') return { ...none, boolValue: value };
  return Number.isSafeInteger(value) ? { ...none, intValue: BigInt(value) } : { ...none, doubleValue: value };
}
