import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import { messageOf } from '../base/errors.ts';
import type { Heartbeats, Round } from '../base/heartbeats.ts';
import type { Log } from '../base/log.ts';
import { superviseLoop, type LoopHandle } from '../base/loop.ts';
import type { Random } from '../base/random.ts';
import { canary, canaryTables, stepsOf } from './iptables-plan.ts';
import { Iptables } from './iptables.ts';
import type { SetupMachine } from './ports.ts';

interface IptablesChainsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly programs: SetupMachine['programs'];
}

const periodMs = 60_000;
const flushPollMs = 100;
const flushMs = 5_000;
/** Pods do not wait longer for tables that another program has locked. */
const startMs = 10_000;

/** The agent's chains of one family, kept in place. */
interface Kept {
  readonly tables: Iptables;
  rules: boolean;
  canaries: boolean;
  /** The last reported problem, so that it is reported once. */
  reported?: string | undefined;
}

/**
 * makeIPTablesUtilChains: chains by which other programs know the kind of iptables, and that protect the loopback.
 *
 *   rules ──> canaries ──> asked each minute ──gone──> rules …
 */
export class IptablesChains implements Component {
  readonly name = 'iptables-chains';
  readonly #deps: IptablesChainsDeps;
  readonly #stopped = new AbortController();
  #loops: readonly LoopHandle[] = [];

  constructor(deps: IptablesChainsDeps) {
    this.#deps = deps;
  }

  /** The chains come before pods as far as the tables are not locked; they are never removed. */
  async start(): Promise<void> {
    const { clock } = this.#deps;
    const begun = this.#begin();
    const late = new AbortController();
    await Promise.race([begun, clock.sleep(startMs, late.signal).catch(() => {})]);
    late.abort();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#loops.map(({ done }) => done));
  }

  async #begin(): Promise<void> {
    const { log } = this.#deps;
    const kept: Kept[] = [];
    for (const family of ['IPv4', 'IPv6'] as const) {
      const tables = new Iptables(this.#deps.programs, family);
      if (await this.#opens(tables)) kept.push({ tables, rules: false, canaries: false });
    }
    if (kept.length === 0) {
      log.info('No iptables support on this system; not creating the KUBE-IPTABLES-HINT chain');
    }
    for (const each of kept) {
      await this.#round(each, this.#stopped.signal);
      const protocol = each.tables.family;
      if (each.rules) log.info('Initialized iptables rules.', { protocol });
      else log.warn('Failed to initialize iptables rules; some functionality may be missing.', { protocol });
    }
    if (!this.#stopped.signal.aborted) this.#loops = kept.map((each) => this.#keep(each));
  }

  async #opens(tables: Iptables): Promise<boolean> {
    try {
      return await tables.open();
    } catch (error) {
      this.#deps.log.error(error, 'iptables cannot be used', { protocol: tables.family });
      return false;
    }
  }

  #keep(kept: Kept): LoopHandle {
    const { clock } = this.#deps;
    const name = `${this.name}-${kept.tables.family}`;
    const body = async (signal: AbortSignal, round: Round): Promise<void> => {
      await round.waitFor(clock.sleep(periodMs, signal));
      await this.#round(kept, signal, round);
    };
    return superviseLoop({ ...this.#deps, name, signal: this.#stopped.signal, body });
  }

  async #round(kept: Kept, signal: AbortSignal, round?: Round): Promise<void> {
    if (kept.rules && kept.canaries && (await this.#isFlushed(kept.tables, signal, round))) {
      this.#deps.log.info('Reloading after iptables flush', { protocol: kept.tables.family });
      kept.rules = kept.canaries = false;
    }
    kept.rules ||= await this.#ensureRules(kept, round);
    // Without rules a canary would guard nothing.
    kept.canaries ||= kept.rules && (await this.#ensureCanaries(kept, round));
  }

  async #ensureRules(kept: Kept, round: Round | undefined): Promise<boolean> {
    for (const step of stepsOf(kept.tables.family)) {
      round?.beat();
      try {
        await kept.tables.ensure(step);
      } catch (error) {
        this.#report(kept, error, step.failure);
        return false;
      }
    }
    return true;
  }

  async #ensureCanaries(kept: Kept, round: Round | undefined): Promise<boolean> {
    for (const table of canaryTables) {
      round?.beat();
      try {
        await kept.tables.ensure({ kind: 'chain', table, chain: canary, failure: '' });
      } catch (error) {
        this.#report(kept, error, 'Could not set up iptables canary');
        return false;
      }
    }
    kept.reported = undefined;
    return true;
  }

  async #isFlushed(tables: Iptables, signal: AbortSignal, round: Round | undefined): Promise<boolean> {
    const { clock, log } = this.#deps;
    const [first, ...others] = canaryTables;
    if ((await tables.chain(canary, first)) !== 'gone') return false;
    const deadline = clock.monotonic() + flushMs;
    for (const table of others) {
      while ((await tables.chain(canary, table)) !== 'gone') {
        if (clock.monotonic() >= deadline) {
          log.info('Inconsistent iptables state detected', { protocol: tables.family });
          return true;
        }
        round?.beat();
        await clock.sleep(flushPollMs, signal);
      }
    }
    return true;
  }

  #report(kept: Kept, error: unknown, message: string): void {
    const problem = `${message}: ${messageOf(error)}`;
    if (problem !== kept.reported) this.#deps.log.error(error, message, { protocol: kept.tables.family });
    kept.reported = problem;
  }
}
