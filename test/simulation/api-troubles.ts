import type { Dice } from './dice.ts';
import type { SimNode } from './node.ts';

/** The client and its reflectors try again within about half a minute, an overloaded server asks for a minute. */
const retryMs = 65_000;
/** A watch that says nothing is taken for dead when no bookmark has come for three minutes. */
const silentMs = 190_000;

/** What goes wrong with the API server, and on the way to it. */
export class ApiTroubles {
  readonly #node: SimNode;
  readonly #dice: Dice;

  constructor(node: SimNode, dice: Dice) {
    this.#node = node;
    this.#dice = dice;
  }

  apiAway(): string {
    const { faults } = this.#node.cluster.server;
    faults.away();
    return this.#for(60_000, retryMs, () => faults.back());
  }

  apiRefuses(): string {
    const { faults } = this.#node.cluster.server;
    const status = this.#dice.pick([429, 500, 503, 504]);
    const share = this.#dice.pick([1, 0.5, 0.1]);
    faults.refuse(status, {
      when: () => this.#dice.chance(share),
      ...(status === 429 && { retryAfterSeconds: this.#dice.whole(1, 10) }),
    });
    return `${status} for ${share} of the requests, ${this.#for(30_000, retryMs, () => faults.clear())}`;
  }

  apiLosesAnswers(): string {
    const { faults } = this.#node.cluster.server;
    const [how, times] = [this.#dice.pick(['loseAnswers', 'cutAnswers'] as const), this.#dice.whole(1, 10)];
    faults[how]({ times });
    return `${how} ${times} times, ${this.#for(30_000, retryMs, () => faults.clear())}`;
  }

  apiSlow(): string {
    const { faults } = this.#node.cluster.server;
    const ms = this.#dice.pick([50, 1_000, 9_000]);
    faults.slow(ms, { times: this.#dice.whole(1, 30) });
    return `${ms} ms, ${this.#for(30_000, retryMs, () => faults.clear())}`;
  }

  watchesBreak(): string {
    const how = this.#dice.pick(['broken', 'ended', 'expired'] as const);
    const { server } = this.#node.cluster;
    if (this.#dice.chance(0.3)) server.compact();
    server.faults.dropWatches(how);
    return `${how}, ${this.#for(1, retryMs, () => {})}`;
  }

  /** Half open: nothing comes from them any more, not even their end. */
  watchesFallSilent(): string {
    this.#node.cluster.server.faults.silenceWatches();
    return this.#for(1, silentMs + retryMs, () => {});
  }

  #for(mostMs: number, echoMs: number, end: () => void): string {
    const lastsMs = this.#dice.whole(1, mostMs);
    this.#node.troubles.begin(lastsMs, echoMs, end);
    this.#node.troubles.silence(lastsMs + echoMs);
    return `for ${lastsMs} ms at most`;
  }
}
