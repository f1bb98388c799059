import type { ProgramResult } from '../model/program-calls.ts';

const done = (stdout = ''): ProgramResult => ({ code: 0, stdout, stderr: '' });
const failed = (code: number, stderr: string): ProgramResult => ({ code, stdout: '', stderr });

/** Chains and rules by `<program> <table>`; `iptables` and `ip6tables` as the agent calls them. */
export class MemoryIptables {
  /** Every call, as it would be typed. */
  readonly calls: string[] = [];
  readonly chains = new Map<string, Map<string, string[]>>();
  version = 'iptables v1.8.9 (nf_tables)\n';
  /** Programs that are not installed. */
  readonly absent = new Set<string>();
  /** Answers every call that begins so with this exit code. */
  readonly broken = new Map<string, number>();

  constructor() {
    for (const program of ['iptables', 'ip6tables']) this.flush(program);
  }

  /** Removes all chains but those of the kernel. */
  flush(program = 'iptables'): void {
    const own = { mangle: ['OUTPUT', 'POSTROUTING'], nat: ['OUTPUT', 'POSTROUTING'], filter: ['INPUT', 'OUTPUT'] };
    for (const [table, chains] of Object.entries(own)) {
      this.chains.set(`${program} ${table}`, new Map(chains.map((chain) => [chain, []])));
    }
  }

  async run(program: string, args: readonly string[]): Promise<ProgramResult | undefined> {
    if (this.absent.has(program)) return undefined;
    const call = [program, ...args].join(' ');
    this.calls.push(call);
    if (args[0] === '--version') return done(this.version);
    const problem = [...this.broken].find(([start]) => call.startsWith(start));
    if (problem !== undefined) return failed(problem[1], 'broken');
    const [operation = '', chain = '', , table = '', ...rule] = args.slice(
      args.findIndex((word) => /^-[A-Z]$/.test(word)),
    );
    const chains = this.chains.get(`${program} ${table}`);
    if (chains === undefined) return failed(3, `can't initialize table ${table}`);
    return this.#carryOut(chains, operation, chain, rule.join(' '));
  }

  #carryOut(chains: Map<string, string[]>, operation: string, chain: string, rule: string): ProgramResult {
    const rules = chains.get(chain);
    if (operation === '-N') {
      if (rules !== undefined) return failed(1, 'Chain already exists.');
      chains.set(chain, []);
      return done();
    }
    if (rules === undefined) return failed(1, 'No chain/target/match by that name.');
    if (operation === '-C' && !rules.includes(rule)) return failed(1, 'Bad rule');
    if (operation === '-I') rules.unshift(rule);
    if (operation === '-A') rules.push(rule);
    return done();
  }
}
