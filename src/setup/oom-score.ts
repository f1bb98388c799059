import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import { isKind, messageOf } from '../base/errors.ts';
import type { Heartbeats, Round } from '../base/heartbeats.ts';
import type { Log } from '../base/log.ts';
import { superviseLoop, type LoopHandle } from '../base/loop.ts';
import type { Random } from '../base/random.ts';
import type { OwnProcess } from './ports.ts';

interface OomScoreDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly process: Pick<OwnProcess, 'oomScoreAdj' | 'setOomScoreAdj' | 'hasPidsOfMachine'>;
  /** oomScoreAdj */
  readonly wanted: number;
  /** Whether kubeletCgroups is set: then an operator is expected to move the agent, and the score is checked more often. */
  readonly hasOwnCgroup: boolean;
}

const tries = 2;
const pauseMs = 100;
const usualPeriodMs = 300_000;
const ownCgroupPeriodMs = 60_000;
const lost = 'when memory runs out the kernel may kill the agent before containers of pods';

/** Keeps the agent's own oom_score_adj, which another program or an operator may change. */
export class OomScore implements Component {
  readonly name = 'oom-score';
  readonly #deps: OomScoreDeps;
  readonly #stopped = new AbortController();
  /** The last reported problem, so that it is reported once. */
  #reported: string | undefined;
  #loop: LoopHandle | undefined;

  constructor(deps: OomScoreDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    const { clock, random, log, heartbeats, process, hasOwnCgroup } = this.#deps;
    await this.apply();
    // In a container the score belongs to its runtime from then on.
    if (!process.hasPidsOfMachine()) return;
    const periodMs = hasOwnCgroup ? ownCgroupPeriodMs : usualPeriodMs;
    const body = async (signal: AbortSignal, round: Round): Promise<void> => {
      await round.waitFor(clock.sleep(periodMs, signal));
      await this.apply();
    };
    this.#loop = superviseLoop({ name: this.name, heartbeats, clock, random, log, signal: this.#stopped.signal, body });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop?.done;
  }

  /** A failure is logged only: pods run without it. */
  async apply(): Promise<void> {
    const { clock, log, process, wanted } = this.#deps;
    for (let attempt = 1; ; attempt++) {
      try {
        // A process may always be made more willing to be killed, and may keep what it has; less needs a privilege.
        if (process.oomScoreAdj() !== wanted) process.setOomScoreAdj(wanted);
        this.#reported = undefined;
        return;
      } catch (error) {
        // A privilege does not come with time.
        if (attempt < tries && !isKind(error, 'denied')) await clock.sleep(pauseMs);
        else {
          const message = messageOf(error);
          if (message !== this.#reported) {
            log.warn('Failed to ApplyOOMScoreAdj', { oomScoreAdj: wanted, err: message, lost });
          }
          this.#reported = message;
          return;
        }
      }
    }
  }
}
