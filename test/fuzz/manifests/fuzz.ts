import type { EventEmitter } from 'node:events';
import { systemClock } from '../../../src/base/system-clock.ts';
import { describeError } from '../../../src/base/errors.ts';
import { memoryNow, watchProcess, type Memory } from '../watch.ts';
import type { ManifestCase, WorldKind } from './case.ts';
import { makeCase } from './cases.ts';
import { judge, type JudgeLimits } from './judge.ts';
import { knownAs } from './known-findings.ts';
import { play } from './play.ts';
import { outcomeOf, type Played } from './played.ts';
import { ManifestWorld } from './world.ts';

interface ManifestFuzzOptions {
  readonly seed: number;
  readonly cases: number;
  /** The first case; default: 0. */
  readonly first?: number;
  /** No case begins later than this after the first. */
  readonly minutes?: number | undefined;
  /** Only cases of these kinds. */
  readonly kinds?: readonly string[] | undefined;
  readonly limits?: Partial<ManifestLimits>;
  /** Cases other than those of the seed. */
  readonly make?: (number: number) => ManifestCase;
  /** Breaks a world on purpose, after its start. */
  readonly sabotage?: (world: ManifestWorld) => void;
  /** What says that nothing caught an error; default: this process. */
  readonly process?: EventEmitter;
  readonly onPlayed?: (number: number, made: ManifestCase, played: Played) => void;
  readonly onProgress?: (done: number, findings: number) => void;
}

export interface ManifestLimits extends JudgeLimits {
  /** Of memory, for what is filled once. */
  readonly slackBytes: number;
  /** Of memory, by which each case adds to that. */
  readonly caseBytes: number;
}

const defaultLimits: ManifestLimits = { cpuMs: 1_000, slackBytes: 24 << 20, caseBytes: 1_024 };
/** Every so many cases one is played again. */
const againEvery = 8;
const maxWarmUp = 200;

interface ManifestFinding {
  /** Nothing: it is not known which case it was. */
  readonly number: number | undefined;
  readonly kind: string;
  readonly problem: string;
}

interface ManifestReport {
  readonly findings: readonly ManifestFinding[];
  /** How often each known finding was seen, by its area. */
  readonly known: ReadonlyMap<string, number>;
  readonly kinds: ReadonlyMap<string, number>;
  /** How many cases were taken, in part or as a whole, and how many refused. */
  readonly taken: number;
  readonly refused: number;
  readonly slowest: { readonly number: number; readonly kind: string; readonly cpuMs: number };
  readonly memory: { readonly before: Memory; readonly after: Memory };
}

/** Throws cases at nodes on virtual time, and says what was wrong with what came of them. */
export async function fuzzManifests(options: ManifestFuzzOptions): Promise<ManifestReport> {
  const run = new ManifestFuzzRun(options);
  const unwatch = watchProcess((problem) => run.find(problem), options.process);
  try {
    return await run.run();
  } finally {
    unwatch();
  }
}

class ManifestFuzzRun {
  readonly #options: ManifestFuzzOptions;
  readonly #limits: ManifestLimits;
  readonly #findings: ManifestFinding[] = [];
  readonly #known = new Map<string, number>();
  readonly #kinds = new Map<string, number>();
  readonly #worlds = new Map<WorldKind, ManifestWorld>();
  #underWay: { readonly number: number; readonly kind: string } | undefined;
  #taken = 0;
  #refused = 0;
  #slowest = { number: -1, kind: '', cpuMs: 0 };

  constructor(options: ManifestFuzzOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
  }

  /** What no case catches is the fault of the one under way. */
  find(problem: string): void {
    const { number, kind = '' } = this.#underWay ?? {};
    const known = knownAs(kind, problem);
    if (known === undefined) this.#findings.push({ number, kind, problem });
    else count(this.#known, known.area);
  }

  async run(): Promise<ManifestReport> {
    const { seed, cases, first = 0, minutes, kinds, onProgress } = this.#options;
    const make = this.#options.make ?? ((number: number) => makeCase(seed, number));
    const clock = systemClock();
    const until = minutes === undefined ? Infinity : clock.monotonic() + minutes * 60_000;
    const warm = first + Math.min(maxWarmUp, Math.floor(cases / 2));
    let before = memoryNow();
    let done = 0;
    for (let number = first; number < first + cases && clock.monotonic() < until; number++) {
      if (number === warm) before = memoryNow();
      const made = make(number);
      if (kinds?.includes(made.kind) === false) continue;
      await this.#one(number, made);
      done++;
      if (done % 200 === 0) onProgress?.(done, this.#findings.length);
    }
    this.#underWay = undefined;
    const after = memoryNow();
    const growth = after.used - before.used;
    if (growth > this.#limits.slackBytes + this.#limits.caseBytes * done)
      this.find(`${growth >> 10} KiB of memory are left of ${done} cases`);
    for (const world of this.#worlds.values()) await this.#stop(world);
    return {
      findings: this.#findings,
      known: this.#known,
      kinds: this.#kinds,
      taken: this.#taken,
      refused: this.#refused,
      slowest: this.#slowest,
      memory: { before, after },
    };
  }

  async #one(number: number, made: ManifestCase): Promise<void> {
    const { kind } = made;
    this.#underWay = { number, kind };
    count(this.#kinds, kind);
    const played = await this.#play(number, made);
    if (played === undefined) return;
    if (played.pods.length > 0) this.#taken++;
    if (played.log.some(({ message }) => message === 'Bad static pod manifest')) this.#refused++;
    if (played.cpuMs > this.#slowest.cpuMs) this.#slowest = { number, kind, cpuMs: played.cpuMs };
    if (number % againEvery !== 0 || !this.#worlds.has(made.world)) return;
    const again = await this.#play(number, made);
    if (again !== undefined && outcomeOf(again) !== outcomeOf(played))
      this.find(`played again, it went differently: ${difference(outcomeOf(played), outcomeOf(again))}`);
  }

  /** A world that shows a fault is given up: what comes of it would be found in each case that follows. */
  async #play(number: number, made: ManifestCase): Promise<Played | undefined> {
    const found = this.#findings.length;
    try {
      const world = await this.#worldOf(made.world);
      const played = await play(world, made, number);
      this.#options.onPlayed?.(number, made, played);
      const problems = [...new Set(judge(played, this.#limits))];
      for (const problem of problems) this.find(problem);
      if (problems.length > 0) await this.#giveUp(made.world);
      return played;
    } catch (error) {
      this.find(`the world broke: ${describeError(error)}`);
      await this.#giveUp(made.world);
      return undefined;
    } finally {
      if (this.#findings.length > found) this.#options.onProgress?.(number, this.#findings.length);
    }
  }

  async #worldOf(kind: WorldKind): Promise<ManifestWorld> {
    const present = this.#worlds.get(kind);
    if (present !== undefined) return present;
    const world = new ManifestWorld(kind);
    await world.start();
    this.#options.sabotage?.(world);
    this.#worlds.set(kind, world);
    return world;
  }

  async #giveUp(kind: WorldKind): Promise<void> {
    const world = this.#worlds.get(kind);
    this.#worlds.delete(kind);
    if (world !== undefined) await this.#stop(world);
  }

  async #stop(world: ManifestWorld): Promise<void> {
    try {
      await world.stop();
    } catch (error) {
      this.find(`the agent does not stop: ${describeError(error)}`);
    }
  }
}

function difference(one: string, other: string): string {
  const [before, after] = [one.split('\n'), other.split('\n')];
  const at = before.findIndex((line, index) => line !== after[index]);
  return `${JSON.stringify(before[at]?.slice(0, 200))} and ${JSON.stringify(after[at === -1 ? before.length : at]?.slice(0, 200))}`;
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
