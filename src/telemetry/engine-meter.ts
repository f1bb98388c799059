import {
  constants,
  monitorEventLoopDelay,
  PerformanceObserver,
  type IntervalHistogram,
  type NodeGCPerformanceDetail,
} from 'node:perf_hooks';

/** The delays between beats of a timer, as node:perf_hooks keeps them, in nanoseconds. */
export type Beats = Pick<IntervalHistogram, 'enable' | 'disable' | 'reset' | 'percentile' | 'count' | 'mean' | 'max'>;

/** Takes a collection of garbage: its kind and how long it took. */
type OnCollection = (kind: string, seconds: number) => void;

/** Measures the engine that runs the agent. It takes time only where it is asked to measure. */
export interface EngineMeter {
  /** A timer that beats each `beatMs`; it is not enabled. */
  beats(): Beats;
  /** Reports each collection of garbage until the returned function is called. */
  watchCollections(onCollection: OnCollection): () => void;
}

export const beatMs = 20;

const gcKinds: ReadonlyMap<number, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weak'],
]);

/** The engine of this process. */
export const nodeEngine: EngineMeter = {
  beats: () => monitorEventLoopDelay({ resolution: beatMs }),
  watchCollections: (onCollection) => {
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { kind } = Object(Reflect.get(entry, 'detail')) as Partial<NodeGCPerformanceDetail>;
        onCollection(gcKinds.get(kind ?? 0) ?? 'other', entry.duration / 1_000);
      }
    });
    observer.observe({ entryTypes: ['gc'] });
    return () => observer.disconnect();
  },
};
