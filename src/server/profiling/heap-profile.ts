import { frameOf, type CallFrame } from './call-frame.ts';
import type { Frame, PprofProfile, PprofSample } from './pprof.ts';

/** Allocations as V8 sampled them: a tree of calls with the bytes that each allocated itself. */
export interface V8HeapProfile {
  readonly head: V8HeapNode;
}

interface V8HeapNode {
  readonly callFrame: CallFrame;
  readonly selfSize: number;
  readonly children: readonly V8HeapNode[];
}

interface HeapProfileInfo {
  /** What lives still, or all that was ever allocated. */
  readonly type: 'inuse_space' | 'alloc_space';
  readonly startedAt: number;
  readonly durationMs: number;
  readonly intervalBytes: number;
}

/** Bytes by stack. */
export function heapToPprof(profile: V8HeapProfile, info: HeapProfileInfo): PprofProfile {
  const samples: PprofSample[] = [];
  const open: { readonly node: V8HeapNode; readonly stack: readonly Frame[] }[] = [{ node: profile.head, stack: [] }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { node, stack } = at;
    const here = node.callFrame.functionName === '(root)' ? stack : [frameOf(node.callFrame), ...stack];
    if (node.selfSize > 0) samples.push({ stack: here, values: [node.selfSize] });
    for (const child of node.children) open.push({ node: child, stack: here });
  }
  return {
    sampleTypes: [{ type: info.type, unit: 'bytes' }],
    samples,
    periodType: { type: 'space', unit: 'bytes' },
    period: info.intervalBytes,
    startedAt: info.startedAt,
    durationMs: info.durationMs,
  };
}
