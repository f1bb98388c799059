import type { V8CpuProfile } from './cpu-profile.ts';
import type { V8HeapProfile } from './heap-profile.ts';

/** The engine that runs this process, as far as it reports on itself. */
export interface Engine {
  /** Begins; the caller ends it by one of the methods of the result. */
  cpuProfile(intervalMicros: number): Promise<Recording<V8CpuProfile>>;
  /** `all`: also with objects that were collected before it ended. */
  heapProfile(intervalBytes: number, all: boolean): Promise<Recording<V8HeapProfile>>;
  /** Events of the engine and of the runtime around it, at most so many. */
  trace(maxEvents: number): Promise<Recording<readonly object[]>>;
  /** Everything on the heap. The process stands still while it is taken. */
  heapSnapshot(): AsyncIterable<Uint8Array>;
}

/** Something that goes on until it is ended. */
export interface Recording<T> {
  /** Ends it and answers what was recorded. */
  finish(): Promise<T>;
  /** Lets go of everything; harmless when repeated and after the end. */
  close(): void;
}
