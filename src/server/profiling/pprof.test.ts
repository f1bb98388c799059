import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { readPprof } from '../../testing/read-pprof.ts';
import { cpuToPprof, type V8CpuProfile } from './cpu-profile.ts';
import { heapToPprof } from './heap-profile.ts';
import { encodePprof } from './pprof.ts';

const frame = (functionName: string, url = '', lineNumber = -1) => ({ functionName, url, lineNumber });

/** main calls work at two places of the tree; twice the process was idle. */
const cpu: V8CpuProfile = {
  startTime: 1_000_000,
  endTime: 1_080_000,
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 3, 6] },
    { id: 2, callFrame: frame('main', 'file:///opt/tubelet.mjs', 9), children: [4, 5] },
    { id: 3, callFrame: frame('(idle)') },
    { id: 4, callFrame: frame('work', 'file:///opt/tubelet.mjs', 19) },
    { id: 5, callFrame: frame('', 'node:fs', 4) },
    { id: 6, callFrame: frame('(garbage collector)') },
  ],
  samples: [4, 3, 4, 5, 3, 6, 1, 2],
  timeDeltas: [500, 10_000, 10_000, 11_000, 9_000, 10_000, -5, 10_000],
};

const packed = gzipSync(encodePprof(cpuToPprof(cpu, 1_700_000_000_000, 10_000), 'tubelet'));

test('CPU time by stack, without idleness', () => {
  assert.deepEqual(readPprof(packed), {
    sampleTypes: ['samples/count', 'cpu/nanoseconds'],
    samples: [
      { stack: 'work /opt/tubelet.mjs:20 < main /opt/tubelet.mjs:10', values: [2, 21_000_000] },
      { stack: '(anonymous) node:fs:5 < main /opt/tubelet.mjs:10', values: [1, 9_000_000] },
      { stack: '(garbage collector) :0', values: [1, 0] },
      { stack: 'main /opt/tubelet.mjs:10', values: [1, 10_000_000] },
    ],
    periodType: 'cpu/nanoseconds',
    period: 10_000_000,
    timeNanos: 1_700_000_000_000_000_000n,
    durationNanos: 80_000_000n,
    program: 'tubelet',
  });
});

test('memory by stack', () => {
  const child = (name: string, selfSize: number, ...children: readonly object[]) =>
    ({ callFrame: frame(name, 'file:///a.mjs', 0), selfSize, children }) as never;
  const head = child('(root)', 0, child('main', 100, child('deep', 2 ** 33)), child('empty', 0));
  const info = { type: 'inuse_space', startedAt: 5, durationMs: 10_000, intervalBytes: 524_288 } as const;
  const read = readPprof(gzipSync(encodePprof(heapToPprof({ head }, info), 'tubelet')));
  assert.deepEqual(read.sampleTypes, ['inuse_space/bytes']);
  assert.deepEqual(read.samples, [
    { stack: 'main /a.mjs:1', values: [100] },
    { stack: 'deep /a.mjs:1 < main /a.mjs:1', values: [2 ** 33] },
  ]);
  assert.deepEqual([read.periodType, read.period], ['space/bytes', 524_288]);
});

test('a profile in which nothing happened', () => {
  const nothing = { startTime: 0, endTime: 0, nodes: [{ id: 1, callFrame: frame('(root)') }] };
  const read = readPprof(gzipSync(encodePprof(cpuToPprof(nothing, 0, 10_000), 'tubelet')));
  assert.deepEqual(read.samples, []);
});
