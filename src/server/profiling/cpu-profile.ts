import { frameOf, type CallFrame } from './call-frame.ts';
import type { Frame, PprofProfile, PprofSample } from './pprof.ts';

/** A CPU profile as V8 reports it: a tree of calls, and which of its nodes was found by each sample. */
export interface V8CpuProfile {
  readonly nodes: readonly V8CpuNode[];
  /** Microseconds. */
  readonly startTime: number;
  readonly endTime: number;
  readonly samples?: readonly number[] | undefined;
  /** Microseconds between a sample and the one before it, or the start. */
  readonly timeDeltas?: readonly number[] | undefined;
}

interface V8CpuNode {
  readonly id: number;
  readonly callFrame: CallFrame;
  readonly children?: readonly number[] | undefined;
}

/** Nodes without CPU time: the idle process, and the root of the tree. */
const notWork: ReadonlySet<string> = new Set(['(idle)', '(root)']);
const nanosPerMicro = 1_000;

/** Time by stack, without the samples at which the process had nothing to do. */
export function cpuToPprof(profile: V8CpuProfile, startedAt: number, periodMicros: number): PprofProfile {
  const { nodes, samples = [], timeDeltas = [] } = profile;
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const spent = new Map<number, { count: number; micros: number }>();
  for (const [index, id] of samples.entries()) {
    const entry = spent.get(id) ?? { count: 0, micros: 0 };
    entry.count++;
    // A node was at work until the next sample; a clock that is set back must not make that negative.
    entry.micros += Math.max(0, timeDeltas[index + 1] ?? periodMicros);
    spent.set(id, entry);
  }

  const found: PprofSample[] = [];
  for (const [id, { count, micros }] of spent) {
    const stack: Frame[] = [];
    for (let node = byId.get(id); node !== undefined; node = byId.get(parents.get(node.id) ?? -1)) {
      if (!notWork.has(node.callFrame.functionName)) stack.push(frameOf(node.callFrame));
    }
    if (stack.length > 0) found.push({ stack, values: [count, micros * nanosPerMicro] });
  }
  return {
    sampleTypes: [
      { type: 'samples', unit: 'count' },
      { type: 'cpu', unit: 'nanoseconds' },
    ],
    samples: found,
    periodType: { type: 'cpu', unit: 'nanoseconds' },
    period: periodMicros * nanosPerMicro,
    startedAt,
    durationMs: (profile.endTime - profile.startTime) / 1_000,
  };
}
