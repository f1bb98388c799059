import { Session } from 'node:inspector/promises';
import { getHeapSnapshot } from 'node:v8';
import type { Engine, Recording } from './ports.ts';

/**
 * What is recorded in a trace: collections and compilation, files, the thread pool, the network. Promises and other
 * hooks are left out, because watching them slows everything; requests are, because queries may hold secrets.
 */
const traceCategories = [
  'v8',
  'node.fs.sync',
  'node.fs.async',
  'node.threadpoolwork.async',
  'node.net.native',
  'node.dns.native',
];

/** This process. Each recording has a session of its own with the engine; what a session began ends with it. */
export function nodeEngine(): Engine {
  return {
    cpuProfile: (intervalMicros) =>
      record(
        async (session) => {
          await session.post('Profiler.enable');
          await session.post('Profiler.setSamplingInterval', { interval: intervalMicros });
          await session.post('Profiler.start');
        },
        async (session) => (await session.post('Profiler.stop')).profile,
      ),
    heapProfile: (intervalBytes, all) =>
      record(
        async (session) => {
          await session.post('HeapProfiler.enable');
          const collected = { includeObjectsCollectedByMajorGC: all, includeObjectsCollectedByMinorGC: all };
          await session.post('HeapProfiler.startSampling', { samplingInterval: intervalBytes, ...collected });
        },
        async (session) => (await session.post('HeapProfiler.stopSampling')).profile,
      ),
    trace: (maxEvents) => {
      const events: object[] = [];
      return record(
        async (session) => {
          session.on('NodeTracing.dataCollected', ({ params }) => {
            events.push(...params.value.slice(0, maxEvents - events.length));
          });
          await session.post('NodeTracing.start', { traceConfig: { includedCategories: traceCategories } });
        },
        async (session) => {
          const complete = new Promise<void>((resolve) => {
            session.once('NodeTracing.tracingComplete', () => resolve());
          });
          await session.post('NodeTracing.stop');
          await complete;
          return events;
        },
      );
    },
    heapSnapshot: () => getHeapSnapshot(),
  };
}

async function record<T>(
  start: (session: Session) => Promise<void>,
  finish: (session: Session) => Promise<T>,
): Promise<Recording<T>> {
  const session = new Session();
  session.connect();
  const close = (): void => session.disconnect();
  try {
    await start(session);
  } catch (error) {
    close();
    throw error;
  }
  return { finish: () => finish(session), close };
}
