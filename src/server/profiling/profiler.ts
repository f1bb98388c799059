import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import { cpuToPprof } from './cpu-profile.ts';
import { heapToPprof } from './heap-profile.ts';
import type { Engine, Recording } from './ports.ts';
import { encodePprof, type PprofProfile } from './pprof.ts';

interface ProfilerDeps {
  readonly clock: Clock;
  readonly engine: Engine;
  /** The name of this program in profiles. */
  readonly program: string;
}

const compress = promisify(gzip);
/** A hundred samples a second, as readers of such profiles are used to; five minutes of them stay small. */
const cpuIntervalMicros = 10_000;
const heapIntervalBytes = 512 * 1024;
const maxTraceEvents = 100_000;

/**
 * Profiles of this process. Each costs something while it is made, so there is one at a time: a request that comes meanwhile
 * gets an error of kind `conflict`. A signal that aborts ends the recording, and nothing is answered.
 *
 *   free ──> recording ──> free
 */
export class Profiler {
  readonly #deps: ProfilerDeps;
  #busyWith: string | undefined;

  constructor(deps: ProfilerDeps) {
    this.#deps = deps;
  }

  /** What is being recorded now. */
  get busyWith(): string | undefined {
    return this.#busyWith;
  }

  /** Where time goes: a compressed pprof profile. */
  cpu(seconds: number, signal: AbortSignal): Promise<Uint8Array> {
    return this.#alone('profile', async () => {
      const startedAt = this.#deps.clock.now();
      const begin = (): ReturnType<Engine['cpuProfile']> => this.#deps.engine.cpuProfile(cpuIntervalMicros);
      return this.#packed(cpuToPprof(await this.#record(begin, seconds, signal), startedAt, cpuIntervalMicros));
    });
  }

  /** Allocations by stack: those that are still alive, or all since it began. A compressed pprof profile. */
  heap(type: 'inuse_space' | 'alloc_space', seconds: number, signal: AbortSignal): Promise<Uint8Array> {
    return this.#alone(type === 'alloc_space' ? 'allocs' : 'heap', async () => {
      const startedAt = this.#deps.clock.now();
      const begin = (): ReturnType<Engine['heapProfile']> =>
        this.#deps.engine.heapProfile(heapIntervalBytes, type === 'alloc_space');
      const profile = await this.#record(begin, seconds, signal);
      const info = { type, startedAt, durationMs: seconds * 1_000, intervalBytes: heapIntervalBytes };
      return this.#packed(heapToPprof(profile, info));
    });
  }

  /** What happened, event by event. */
  trace(seconds: number, signal: AbortSignal): Promise<readonly object[]> {
    return this.#alone('trace', () => this.#record(() => this.#deps.engine.trace(maxTraceEvents), seconds, signal));
  }

  /** All that is on the heap, piece by piece. */
  async heapSnapshot(write: (chunk: Uint8Array) => Promise<void>): Promise<void> {
    await this.#alone('heapsnapshot', async () => {
      for await (const chunk of this.#deps.engine.heapSnapshot()) await write(chunk);
    });
  }

  async #alone<T>(name: string, run: () => Promise<T>): Promise<T> {
    if (this.#busyWith !== undefined) {
      throw new TubeletError('conflict', busyWords(this.#busyWith));
    }
    this.#busyWith = name;
    try {
      return await run();
    } finally {
      this.#busyWith = undefined;
    }
  }

  async #record<T>(begin: () => Promise<Recording<T>>, seconds: number, signal: AbortSignal): Promise<T> {
    const recording = await begin();
    try {
      await this.#deps.clock.sleep(seconds * 1_000, signal);
      return await recording.finish();
    } finally {
      recording.close();
    }
  }

  #packed(profile: PprofProfile): Promise<Uint8Array> {
    return compress(encodePprof(profile, this.#deps.program));
  }
}

export function busyWords(name: string): string {
  return `one profile at a time: ${name} is being made; try again later`;
}
