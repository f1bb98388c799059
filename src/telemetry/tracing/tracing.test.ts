import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Server, ServerCredentials, type handleUnaryCall } from '@grpc/grpc-js';
import { systemClock } from '../../base/system-clock.ts';
import {
  TraceServiceService,
  type ExportTraceServiceRequest,
  type ExportTraceServiceResponse,
  type Span as WireSpan,
} from '../../gen/opentelemetry/trace.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { grpcCollector, SpanExporter, SpanTracer, type Collector } from './index.ts';

const resource = { 'service.name': 'kubelet' };

class MemoryCollector implements Collector {
  readonly batches: ExportTraceServiceRequest[] = [];
  failure: Error | undefined;
  hold: Promise<void> | undefined;
  isClosed = false;

  async send(request: ExportTraceServiceRequest): Promise<void> {
    this.batches.push(request);
    await this.hold;
    if (this.failure !== undefined) throw this.failure;
  }

  close(): void {
    this.isClosed = true;
  }
}

const spansIn = (batches: readonly ExportTraceServiceRequest[]): readonly WireSpan[] =>
  batches.flatMap(({ resourceSpans }) => resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((s) => s.spans)));

function setUp(perMillion = 1_000_000) {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const collector = new MemoryCollector();
  const exporter = new SpanExporter({ clock, log, collector, resource });
  const tracer = new SpanTracer({ clock, random: seededRandom(3), perMillion, onEnd: (span) => exporter.add(span) });
  return { clock, log, collector, exporter, tracer };
}

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex');

describe('spans', () => {
  test('a span inside another is its child, also behind an await; failures are recorded', async () => {
    const { clock, collector, tracer } = setUp();
    await assert.rejects(
      tracer.span('outer', { attributes: { pod: 'web', tries: 2, ok: false, share: 0.5 } }, async (span) => {
        await clock.advance(20);
        span.set({ later: 'yes' });
        await tracer.span('inner', { kind: 'client' }, async () => clock.advance(5));
        throw new Error('no more');
      }),
      /no more/,
    );
    await clock.advance(5_000);
    const [inner, outer] = spansIn(collector.batches);
    assert.equal(outer?.name, 'outer');
    assert.equal(hex(inner?.parentSpanId), hex(outer?.spanId));
    assert.equal(hex(inner?.traceId), hex(outer?.traceId));
    assert.deepEqual([inner?.kind, outer?.kind], [3, 1]);
    assert.equal(Number((outer?.endTimeUnixNano ?? 0n) - (outer?.startTimeUnixNano ?? 0n)), 25_000_000);
    assert.deepEqual(outer?.status, { message: 'no more', code: 2 });
    assert.equal(inner?.status, undefined);
    const values = new Map(outer?.attributes.map(({ key, value }) => [key, value]));
    assert.equal(values.get('pod')?.stringValue, 'web');
    assert.equal(values.get('tries')?.intValue, 2n);
    assert.equal(values.get('ok')?.boolValue, false);
    assert.equal(values.get('share')?.doubleValue, 0.5);
    assert.equal(values.get('later')?.stringValue, 'yes');
  });

  test('two at a time do not become relatives', async () => {
    const { clock, collector, tracer } = setUp();
    const both = Promise.all(['a', 'b'].map((name) => tracer.span(name, {}, () => clock.sleep(1))));
    await clock.advance(1);
    await both;
    await clock.advance(5_000);
    const [a, b] = spansIn(collector.batches);
    assert.notEqual(hex(a?.traceId), hex(b?.traceId));
    assert.deepEqual([hex(a?.parentSpanId), hex(b?.parentSpanId)], ['', '']);
  });

  test('what others began is sampled as they say, and goes on to those who are called', async () => {
    const { clock, collector, tracer } = setUp(0);
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    await tracer.span('kept', { from: `00-${trace}-00f067aa0ba902b7-01` }, async ({ traceparent }) => {
      assert.match(traceparent ?? '', new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
    });
    await tracer.span('left out', {}, async ({ traceparent }) => {
      assert.match(traceparent ?? '', /-00$/);
      await tracer.span('left out too', {}, async () => {});
    });
    await clock.advance(5_000);
    assert.deepEqual(
      spansIn(collector.batches).map(({ name, parentSpanId }) => [name, hex(parentSpanId)]),
      [['kept', '00f067aa0ba902b7']],
    );
  });
});

describe('export', () => {
  const many = async ({ tracer }: ReturnType<typeof setUp>, count: number): Promise<void> => {
    for (let index = 0; index < count; index++) await tracer.span(`s${index}`, {}, async () => {});
  };

  test('a full batch goes at once, the rest with time, the last at the end', async () => {
    const world = setUp();
    await many(world, 513);
    assert.equal(world.collector.batches.length, 1);
    await world.clock.advance(5_000);
    assert.equal(spansIn(world.collector.batches).length, 513);
    await many(world, 1);
    await world.exporter.stop();
    assert.equal(spansIn(world.collector.batches).length, 514);
    assert.equal(world.collector.isClosed, true);
    await world.clock.advance(60_000);
    assert.equal(world.collector.batches.length, 3);
  });

  test('a collector that hangs costs spans, not memory; one that fails is complained of once', async () => {
    const world = setUp();
    let go: () => void = () => {};
    world.collector.hold = new Promise((resolve) => {
      go = resolve;
    });
    await many(world, 4_000);
    world.collector.failure = new Error('14 UNAVAILABLE');
    go();
    for (let round = 0; round < 5; round++) await world.clock.advance(5_000);
    assert.equal(spansIn(world.collector.batches).length, 512 + 2_048);
    const warnings = world.log.entries.filter(({ severity }) => severity === 'warn');
    assert.equal(warnings.filter(({ message }) => message.includes('does not take spans')).length, 1);
    assert.deepEqual(
      warnings.filter(({ message }) => message.includes('dropped')).map(({ fields }) => fields),
      [{ dropped: 4_000 - 512 - 2_048 }],
    );
  });

  test('over gRPC, as a collector hears it', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'tubelet-otlp-'));
    const server = new Server();
    const heard: ExportTraceServiceRequest[] = [];
    const take: handleUnaryCall<ExportTraceServiceRequest, ExportTraceServiceResponse> = (call, callback) => {
      heard.push(call.request);
      callback(null, { partialSuccess: undefined });
    };
    server.addService(TraceServiceService, { export: take });
    const endpoint = `unix://${join(folder, 'otlp.sock')}`;
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(endpoint, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
    });
    context.after(() => {
      server.forceShutdown();
      rmSync(folder, { recursive: true });
    });
    const clock = systemClock();
    const collector = grpcCollector(endpoint, clock);
    const exporter = new SpanExporter({ clock, log: new MemoryLog(), collector, resource });
    const onEnd = exporter.add.bind(exporter);
    const tracer = new SpanTracer({ clock, random: seededRandom(1), perMillion: 1_000_000, onEnd });
    await tracer.span('syncPod', { attributes: { 'k8s.pod': 'shop/web' } }, async () => {});
    await exporter.stop();
    assert.deepEqual(
      spansIn(heard).map(({ name }) => name),
      ['syncPod'],
    );
    assert.equal(heard[0]?.resourceSpans[0]?.resource?.attributes[0]?.value?.stringValue, 'kubelet');
  });
});
