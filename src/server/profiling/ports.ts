import type { V8CpuProfile } from './cpu-profile.ts';
import type { V8HeapProfile } from './heap-profile.ts';

/** The engine that runs this process, as far as it tells about itself. */
export interface Engine {
  /** Begins; whoever is answered ends it by one of the methods. */
  cpuProfile(intervalMicros: number): Promise<Recording<V8CpuProfile>>;
  /** With those objects too that are gone when it ends, where `all`. */
  heapProfile(intervalBytes: number, all: boolean): Promise<Recording<V8HeapProfile>>;
  /** Events of the engine and of the runtime around it, at most so many. */
  trace(mostEvents: number): Promise<Recording<readonly object[]>>;
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
