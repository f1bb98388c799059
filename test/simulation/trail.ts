/** What happened lately, for the message of a failure; and all of it as one line per call, for telling two runs apart. */
export class Trail {
  readonly #lines: string[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  note(line: string): void {
    this.#lines.push(`${(this.#now() / 1_000).toFixed(3).padStart(9)}  ${line}`);
  }

  all(): readonly string[] {
    return this.#lines;
  }

  last(count: number): string {
    return this.#lines.slice(-count).join('\n');
  }
}

/** A rule of the simulation was broken. */
export class Violation extends Error {
  override readonly name = 'Violation';
  /** Everything that led there. */
  readonly trail: readonly string[];

  /** The run is named in a way that brings it back: `npm run simulate -- --seed 7`, `--course "..."`. */
  constructor(run: string, rule: string, trail: Trail, lines: number) {
    const [option, ...value] = run.split(' ');
    const replay = `npm run simulate -- --${option} "${value.join(' ')}"`;
    super(`${run}: ${rule}\n\nreplay: ${replay}\n\nthe last ${lines} lines:\n${trail.last(lines)}\n`);
    this.trail = trail.all();
  }
}
