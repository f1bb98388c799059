import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { systemClock } from '../../base/system-clock.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { askHttp } from '../../testing/http-ask.ts';
import { readPprof } from '../../testing/read-pprof.ts';
import { nodeEngine, Profiler, type Engine, type Recording } from './index.ts';

/** An engine that says what it is asked. */
class ScriptedEngine implements Engine {
  readonly said: string[] = [];
  failure: Error | undefined;

  async cpuProfile(intervalMicros: number) {
    const callFrame = { functionName: 'main', url: '', lineNumber: 0 };
    return this.#record(`cpu ${intervalMicros}`, {
      startTime: 0,
      endTime: 2_000_000,
      nodes: [{ id: 1, callFrame }],
      samples: [1],
      timeDeltas: [0],
    });
  }

  async heapProfile(intervalBytes: number, all: boolean) {
    const callFrame = { functionName: 'main', url: '', lineNumber: 0 };
    return this.#record(`heap ${intervalBytes} ${all}`, { head: { callFrame, selfSize: 7, children: [] } });
  }

  async trace(maxEvents: number) {
    return this.#record(`trace ${maxEvents}`, [{ name: 'event' }]);
  }

  async *heapSnapshot() {
    this.said.push('snapshot');
    try {
      yield Buffer.from('{"a":');
      if (this.failure) throw this.failure;
      yield Buffer.from('1}');
    } finally {
      this.said.push('close');
    }
  }

  #record<T>(word: string, result: T): Recording<T> {
    this.said.push(word);
    return {
      finish: async () => {
        this.said.push('finish');
        if (this.failure) throw this.failure;
        return result;
      },
      close: () => void this.said.push('close'),
    };
  }
}

function start() {
  const clock = new FakeClock({ wall: 1_000 });
  const engine = new ScriptedEngine();
  const { signal } = new AbortController();
  return { clock, engine, signal, profiler: new Profiler({ clock, engine, program: 'tubelet' }) };
}

describe('with a scripted engine', () => {
  test('records for as long as asked, then lets go', async () => {
    const { clock, engine, signal, profiler } = start();
    const profile = profiler.cpu(2, signal);
    await clock.advance(1_999);
    assert.deepEqual([profiler.busyWith, engine.said], ['profile', ['cpu 10000']]);
    await clock.advance(1);
    const read = readPprof(await profile);
    assert.deepEqual(read.samples, [{ stack: 'main :1', values: [1, 10_000_000] }]);
    assert.deepEqual([read.timeNanos, read.durationNanos], [1_000_000_000n, 2_000_000_000n]);
    assert.deepEqual([profiler.busyWith, engine.said.slice(1)], [undefined, ['finish', 'close']]);
    assert.equal(clock.pending(), 0);
  });

  test('one at a time, whichever they are', async () => {
    const { clock, engine, signal, profiler } = start();
    const first = profiler.heap('inuse_space', 5, signal);
    await clock.settle();
    const refused = { kind: 'conflict', message: 'one profile at a time: heap is being made; try again later' };
    await assert.rejects(profiler.cpu(1, signal), refused);
    await assert.rejects(profiler.heap('alloc_space', 1, signal), refused);
    await assert.rejects(profiler.trace(1, signal), refused);
    await assert.rejects(
      profiler.heapSnapshot(async () => undefined),
      refused,
    );
    await clock.advance(5_000);
    assert.deepEqual(readPprof(await first).sampleTypes, ['inuse_space/bytes']);
    assert.deepEqual(engine.said, ['heap 524288 false', 'finish', 'close']);
    const next = profiler.heap('alloc_space', 1, signal);
    await clock.advance(1_000);
    assert.deepEqual(readPprof(await next).sampleTypes, ['alloc_space/bytes']);
    assert.deepEqual(engine.said.slice(3), ['heap 524288 true', 'finish', 'close']);
  });

  test('a client that goes ends it at once', async () => {
    const { clock, engine, profiler } = start();
    const controller = new AbortController();
    const trace = profiler.trace(300, controller.signal);
    const failed = assert.rejects(trace, /gone/);
    await clock.settle();
    controller.abort(new Error('gone'));
    await failed;
    assert.deepEqual([engine.said, profiler.busyWith], [['trace 100000', 'close'], undefined]);
    assert.equal(clock.pending(), 0);
  });

  test('after a failure the next profile can begin', async () => {
    const { clock, engine, signal, profiler } = start();
    engine.failure = new Error('no');
    const failed = assert.rejects(profiler.cpu(1, signal), /no/);
    await clock.advance(1_000);
    await failed;
    await assert.rejects(
      profiler.heapSnapshot(async () => undefined),
      /no/,
    );
    assert.equal(profiler.busyWith, undefined);
  });

  test('a snapshot goes piece by piece, until a piece is not taken', async () => {
    const { engine, profiler } = start();
    const pieces: string[] = [];
    await profiler.heapSnapshot(async (chunk) => void pieces.push(chunk.toString()));
    assert.deepEqual(pieces, ['{"a":', '1}']);
    await assert.rejects(
      profiler.heapSnapshot(() => Promise.reject(new Error('gone'))),
      /gone/,
    );
    assert.deepEqual(engine.said, ['snapshot', 'close', 'snapshot', 'close']);
    assert.equal(profiler.busyWith, undefined);
  });
});

describe('of this very process', () => {
  const clock = systemClock();
  const profiler = new Profiler({ clock, engine: nodeEngine(), program: 'test' });
  const { signal } = new AbortController();
  const enough = new AbortController();
  const kept: object[] = [];

  /** Leaves the event loop free between its bursts. */
  async function busyBurning(): Promise<void> {
    while (!enough.signal.aborted) {
      for (let index = 0; index < 50_000; index++) kept[index % 20_000] = { index, list: [index] };
      await new Promise(setImmediate);
    }
  }

  test('its work is found in a CPU profile, its memory in a heap profile', async () => {
    const burning = busyBurning();
    try {
      const cpu = readPprof(await profiler.cpu(0.3, signal));
      assert.ok(cpu.samples.some(({ stack }) => stack.startsWith('busyBurning ')));
      const allocated = readPprof(await profiler.heap('alloc_space', 0.3, signal));
      assert.ok(allocated.samples.some(({ stack }) => stack.includes('busyBurning ')));
      const living = readPprof(await profiler.heap('inuse_space', 0.3, signal));
      assert.deepEqual(living.sampleTypes, ['inuse_space/bytes']);
      assert.ok((await profiler.trace(0.3, signal)).length > 0);
    } finally {
      enough.abort();
      await burning;
    }
  });

  test('a recording that is given up leaves nothing behind', async () => {
    const controller = new AbortController();
    const given = profiler.cpu(300, controller.signal);
    setImmediate(() => controller.abort(new Error('gone')));
    await assert.rejects(given, /gone/);
    assert.ok((await profiler.cpu(0.01, signal)).length > 0);
  });

  test('its heap is a text that can be read', async () => {
    const chunks: Uint8Array[] = [];
    await profiler.heapSnapshot(async (chunk) => void chunks.push(chunk));
    assert.match(Buffer.concat(chunks).toString().slice(0, 200), /^\{"snapshot":\{"meta":/);
  });

  test('a trace does not show the requests of others: commands stand in their queries', async () => {
    const server = createServer((_, response) => response.end());
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const recording = await nodeEngine().trace(100_000);
    const { port } = server.address() as AddressInfo;
    await askHttp(port, '/exec?command=--password=hidden');
    const events = JSON.stringify(await recording.finish());
    recording.close();
    server.close();
    assert.doesNotMatch(events, /hidden/);
  });
});
