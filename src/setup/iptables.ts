import { TubeletError } from '../base/errors.ts';
import type { ProgramResult } from '../model/program-calls.ts';
import { canaryVerdict, presenceChain, programOf, waitFlags, type ChainStep, type Family } from './iptables-plan.ts';
import type { SetupMachine } from './ports.ts';

/** `exists` of -N, `no such rule` of -C. */
const absentOrThere = 1;

/** The tables of one family, by the program that changes them. */
export class Iptables {
  readonly family: Family;
  readonly #programs: SetupMachine['programs'];
  #wait: readonly string[] = [];

  constructor(programs: SetupMachine['programs'], family: Family) {
    this.family = family;
    this.#programs = programs;
  }

  /** Whether this machine has the program and the tables; call it first. */
  async open(): Promise<boolean> {
    const version = await this.#programs.run(programOf(this.family), ['--version']);
    if (version === undefined) return false;
    this.#wait = waitFlags(version.stdout);
    const answer = await this.#call(['-S', presenceChain.chain, '-t', presenceChain.table]);
    return answer.code === 0;
  }

  async ensure(step: ChainStep): Promise<void> {
    const at = [step.chain, '-t', step.table];
    if (step.kind === 'chain') {
      const made = await this.#call(['-N', ...at]);
      if (made.code !== 0 && made.code !== absentOrThere) throw refused(`error creating chain "${step.chain}"`, made);
      return;
    }
    const found = await this.#call(['-C', ...at, ...step.rule]);
    if (found.code === 0) return;
    if (found.code !== absentOrThere) throw refused('error checking rule', found);
    const added = await this.#call([step.position === 'first' ? '-I' : '-A', ...at, ...step.rule]);
    if (added.code !== 0) throw refused('error appending rule', added);
  }

  async chain(chain: string, table: string): Promise<ReturnType<typeof canaryVerdict>> {
    return canaryVerdict((await this.#call(['-S', chain, '-t', table])).code);
  }

  async #call(args: readonly string[]): Promise<ProgramResult> {
    const program = programOf(this.family);
    const result = await this.#programs.run(program, [...this.#wait, ...args]);
    if (result === undefined) throw new TubeletError('notFound', `${program} is not installed any more`);
    return result;
  }
}

function refused(what: string, { code, stdout, stderr }: ProgramResult): TubeletError {
  return new TubeletError('unavailable', `${what}: exit status ${code}: ${`${stdout}${stderr}`.trim()}`);
}
