import { systemClock } from '../../src/base/system-clock.ts';
import type { FuzzCase } from './case.ts';
import { makeCase } from './cases.ts';
import { play, type Heard } from './client.ts';
import { excuseFor } from './documented-failures.ts';
import { judgeHealth } from './health.ts';
import { inventoryOf, leftSince } from './inventory.ts';
import { answersIn, judge, judgeLog, judgeRuntimeHead } from './judge.ts';
import { recordHello } from './tls-cases.ts';
import { transcriptOf } from './transcript.ts';
import { memoryNow, watchLoop, watchProcess, type Memory, type Pauses } from './watch.ts';
import { FuzzWorld, type Sabotage } from './world.ts';

interface FuzzOptions {
  readonly seed: number;
  readonly cases: number;
  /** The first case; default: 0. */
  readonly first?: number;
  /** No case begins later than this after the first. */
  readonly minutes?: number | undefined;
  /** Only cases whose kind begins with one of these. */
  readonly kinds?: readonly string[] | undefined;
  /** Connections at a time; 16 unless told. */
  readonly atOnce?: number;
  readonly limits?: Partial<FuzzLimits>;
  /** Cases other than those of the seed. */
  readonly make?: (number: number) => FuzzCase;
  readonly sabotage?: Sabotage;
  readonly onProgress?: (done: number, problems: number) => void;
  /** Told of everything that is heard. */
  readonly onHeard?: (number: number, heard: Heard) => void;
}

/** What a run may take. */
export interface FuzzLimits {
  /** Until what clients leave behind is gone. */
  readonly settleMs: number;
  /** For an answer to somebody who is well-behaved. */
  readonly healthyMs: number;
  /** Of the processor in one go; what takes this long takes for ever with a little more of the same. */
  readonly turnMs: number;
  /** Of memory, for all caches and pools that fill up. */
  readonly slackBytes: number;
  /** Of memory, by which each case adds to that. */
  readonly caseBytes: number;
}

const usualLimits: FuzzLimits = {
  settleMs: 15_000,
  healthyMs: 10_000,
  turnMs: 4_000,
  slackBytes: 16 << 20,
  caseBytes: 512,
};

interface Finding {
  /** Nothing: it cannot be told which case it was. */
  readonly number: number | undefined;
  readonly problem: string;
  /** What was said, so that it can be said again. */
  readonly transcript: string;
}

type Counts = ReadonlyMap<string, number>;

export interface FuzzReport {
  readonly findings: readonly Finding[];
  /** How many cases of each kind there were. */
  readonly kinds: Counts;
  /** How many answers of each status; `none` are connections without one. */
  readonly statuses: Counts;
  /** How many of each documented failure. */
  readonly failures: Counts;
  readonly pauses: Pauses;
  /** After some cases that fill what is to be filled once, and after all. */
  readonly memory: { readonly before: Memory; readonly after: Memory };
}

const clock = systemClock();
const mostWarmUp = 500;
const stopAfterMs = 30;

/** Throws cases at a server and says what was wrong with the answers, with the log, and with what was left behind. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const run = new FuzzRun(options);
  const unwatch = watchProcess((problem) => run.find(problem));
  try {
    return await run.run();
  } finally {
    unwatch();
  }
}

class FuzzRun {
  readonly #options: FuzzOptions;
  readonly #limits: FuzzLimits;
  readonly #findings: Finding[] = [];
  readonly #kinds = new Map<string, number>();
  readonly #statuses = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  readonly #underWay = new Map<number, FuzzCase>();
  readonly #world: FuzzWorld;
  #make: (number: number) => FuzzCase = () => {
    throw new Error('there are no cases yet');
  };
  #next: number;
  #until = Infinity;

  constructor(options: FuzzOptions) {
    this.#options = options;
    this.#limits = { ...usualLimits, ...options.limits };
    this.#world = new FuzzWorld(options.sabotage);
    this.#next = options.first ?? 0;
  }

  /** Where it cannot be told which case it was, those under way are named. */
  find(problem: string, number?: number, one?: FuzzCase): void {
    const transcript = one === undefined ? `under way: ${[...this.#underWay.keys()].join(' ')}` : transcriptOf(one);
    this.#findings.push({ number, problem, transcript });
  }

  async run(): Promise<FuzzReport> {
    const { cases, first = 0, minutes, seed } = this.#options;
    const { settleMs, healthyMs, turnMs, slackBytes, caseBytes } = this.#limits;
    const world = this.#world;
    // Node opens these when somebody first looks at them, which would seem to leave them behind.
    void [process.stdin, process.stdout, process.stderr];
    const atFirst = inventoryOf(world);
    const hello = await recordHello();
    this.#make = this.#options.make ?? ((number) => makeCase(seed, number, hello));
    world.onLog = (text) => this.#findAll(judgeLog(text));
    world.runtime.onHead = (head) => this.#findAll(judgeRuntimeHead(head));
    await world.start();
    const idle = inventoryOf(world);
    if (minutes !== undefined) this.#until = clock.monotonic() + minutes * 60_000;
    const watch = (): (() => Pauses) => watchLoop((problem) => this.find(problem), turnMs);
    const unwatch = watch();
    await this.#playUpTo(first + Math.min(mostWarmUp, Math.floor(cases / 4)));
    unwatch();
    const [before, warm] = [memoryNow(), this.#next];
    const pausesUntilNow = watch();
    await this.#playUpTo(first + cases);
    const pauses = pausesUntilNow();
    this.#findAll(await leftSince(idle, world, settleMs));
    // What the last clients said goes with their connections, a moment after these count as closed.
    this.#findAll(await judgeHealth(world, healthyMs));
    const after = memoryNow();
    const growth = after.used - before.used;
    if (growth > slackBytes + caseBytes * (this.#next - warm))
      this.find(`${growth >> 10} KiB of memory are left of ${this.#next - warm} cases`);
    await this.#stopInTheMiddle();
    this.#findAll(await leftSince(atFirst, world, settleMs));
    const [findings, kinds, statuses, failures] = [this.#findings, this.#kinds, this.#statuses, this.#failures];
    return { findings, kinds, statuses, failures, pauses, memory: { before, after } };
  }

  /** Cases below a number, several at a time; what is remembered of them for tests is forgotten. */
  async #playUpTo(end: number): Promise<void> {
    const { atOnce = 16 } = this.#options;
    await Promise.all(Array.from({ length: atOnce }, () => this.#client(end)));
    this.#world.tidy();
  }

  /** One client after the other, until all cases have had their turn. */
  async #client(end: number): Promise<void> {
    const { first = 0, kinds, onProgress } = this.#options;
    while (this.#next < end && clock.monotonic() < this.#until) {
      const number = this.#next++;
      const made = this.#make(number);
      if (kinds?.some((kind) => made.kind.startsWith(kind)) === false) continue;
      this.#underWay.set(number, made);
      await this.#play(number, made);
      this.#underWay.delete(number);
      const done = number + 1 - first;
      if (done % 50 === 0) this.#world.tidy();
      if (done % 1_000 === 0) onProgress?.(done, this.#findings.length);
    }
  }

  async #play(number: number, made: FuzzCase): Promise<void> {
    const heard = await play(this.#world, made);
    this.#options.onHeard?.(number, heard);
    const answers = answersIn(made, heard);
    count(this.#kinds, made.kind);
    if (answers.length === 0) count(this.#statuses, 'none');
    for (const { status, body } of answers) {
      count(this.#statuses, String(status ?? 'unknown'));
      const excuse = status === undefined || body === undefined ? undefined : excuseFor(status, body);
      if (excuse !== undefined) count(this.#failures, `${excuse.status} ${excuse.words}`);
    }
    for (const problem of judge(made, heard)) this.find(problem, number, made);
  }

  /** The agent stops while clients are at it; what becomes of those is theirs. */
  async #stopInTheMiddle(): Promise<void> {
    const { atOnce = 16 } = this.#options;
    const late = Array.from({ length: atOnce }, (_, at) => play(this.#world, this.#make(-1 - at)));
    await clock.sleep(stopAfterMs);
    await this.#world.stop();
    const heard = await Promise.all(late);
    if (heard.some(({ ended }) => !ended)) this.find('a connection is still open after the end of the server');
  }

  #findAll(problems: readonly string[]): void {
    for (const problem of problems) this.find(problem);
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
