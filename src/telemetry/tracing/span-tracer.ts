import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import type { Span, SpanAttributes, SpanOptions, Tracer } from '../../base/tracing.ts';
import type { FinishedSpan } from './to-otlp.ts';
import { formatTraceparent, isSampled, parseTraceparent, type TraceContext } from './trace-context.ts';

interface SpanTracerDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** How many of a million traces that begin here are sampled; those that others began are as they say. */
  readonly perMillion: number;
  readonly onEnd: (span: FinishedSpan) => void;
}

/** Makes spans. Which one is the parent follows the calls by itself, through whatever they await. */
export class SpanTracer implements Tracer {
  readonly #deps: SpanTracerDeps;
  readonly #current = new AsyncLocalStorage<TraceContext>();

  constructor(deps: SpanTracerDeps) {
    this.#deps = deps;
  }

  span<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
    const parent = parseTraceparent(options.from) ?? this.#current.getStore();
    const context = this.#child(parent);
    return this.#current.run(context, () =>
      context.sampled ? this.#record(name, options, context, parent, work) : work(unsampled(context)),
    );
  }

  #child(parent: TraceContext | undefined): TraceContext {
    const { random, perMillion } = this.#deps;
    const traceId = parent?.traceId ?? random.hex(16);
    return { traceId, spanId: random.hex(8), sampled: parent?.sampled ?? isSampled(traceId, perMillion) };
  }

  async #record<T>(
    name: string,
    { kind = 'internal', attributes: given = {} }: SpanOptions,
    context: TraceContext,
    parent: TraceContext | undefined,
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    const { clock, onEnd } = this.#deps;
    const startMs = clock.now();
    const began = clock.monotonic();
    let attributes: SpanAttributes = given;
    let failure: string | undefined;
    try {
      return await work({
        set: (more) => {
          attributes = { ...attributes, ...more };
        },
        traceparent: formatTraceparent(context),
      });
    } catch (error) {
      failure = messageOf(error);
      throw error;
    } finally {
      const endMs = startMs + clock.monotonic() - began;
      onEnd({ name, kind, context, parentSpanId: parent?.spanId, startMs, endMs, attributes, failure });
    }
  }
}

/** Others must know that it is not sampled, or they would decide for themselves. */
const unsampled = (context: TraceContext): Span => ({ set() {}, traceparent: formatTraceparent(context) });
