import type { Clock, CancelTimer } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { SpanAttributes } from '../../base/tracing.ts';
import type { ExportTraceServiceRequest } from '../../gen/opentelemetry/trace.ts';
import { toExportRequest, type FinishedSpan } from './to-otlp.ts';

/** The collector of spans. */
export interface Collector {
  send(request: ExportTraceServiceRequest, timeoutMs: number): Promise<void>;
  close(): void;
}

interface SpanExporterDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly collector: Collector;
  readonly resource: SpanAttributes;
}

const waitMs = 5_000;
const batchSize = 512;
/** What the collector does not take is dropped, the newest first: it must not fill the node's memory. */
const maxWaiting = 2_048;
const sendMs = 10_000;

/** Tells finished spans to a collector, in batches, one at a time. */
export class SpanExporter implements Component {
  readonly name = 'span-exporter';
  readonly #deps: SpanExporterDeps;
  readonly #waiting: FinishedSpan[] = [];
  #timer: CancelTimer | undefined;
  #sending: Promise<void> | undefined;
  #dropped = 0;
  #isFailing = false;

  constructor(deps: SpanExporterDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {}

  /** Sends what is left, once. */
  async stop(): Promise<void> {
    this.#timer?.();
    await this.#sending;
    if (this.#waiting.length > 0) await this.#send();
    this.#timer?.();
    this.#deps.collector.close();
  }

  add(span: FinishedSpan): void {
    if (this.#waiting.length >= maxWaiting) {
      this.#dropped++;
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= batchSize) this.#kick();
    else this.#timer ??= this.#deps.clock.after(waitMs, () => this.#kick());
  }

  #kick(): void {
    this.#timer?.();
    this.#timer = undefined;
    if (this.#sending !== undefined) return;
    this.#sending = this.#send().finally(() => {
      this.#sending = undefined;
      if (this.#waiting.length >= batchSize) this.#kick();
      else if (this.#waiting.length > 0) this.#timer ??= this.#deps.clock.after(waitMs, () => this.#kick());
    });
  }

  /** A batch that is not taken is lost: newer spans matter more than a complete record. */
  async #send(): Promise<void> {
    const { collector, resource, log } = this.#deps;
    const batch = this.#waiting.splice(0, batchSize);
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) log.warn('Spans were dropped, the trace collector does not keep up', { dropped });
    try {
      await collector.send(toExportRequest(resource, batch), sendMs);
      if (this.#isFailing) log.info('The trace collector takes spans again');
      this.#isFailing = false;
    } catch (error) {
      // Said once, not with every batch.
      if (!this.#isFailing) log.warn('The trace collector does not take spans', { err: messageOf(error) });
      this.#isFailing = true;
    }
  }
}
