import type { Random } from '../../src/base/random.ts';

/** Choices of a schedule, all from one seeded source. */
export class Dice {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  chance(probability: number): boolean {
    return this.#random.next() < probability;
  }

  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.#random.next() * (high - low + 1));
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.whole(0, choices.length - 1)];
    if (choice === undefined) throw new Error('nothing to pick from');
    return choice;
  }

  maybePick<T>(choices: readonly T[]): T | undefined {
    return choices.length === 0 ? undefined : this.pick(choices);
  }

  /** One of the keys, each as likely as its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let rest = this.#random.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      rest -= weight;
      if (rest < 0) return key;
    }
    throw new Error('the weights are empty');
  }

  /** Mostly short, at times long: the waits between what happens on a node. */
  pauseMs(): number {
    const scale = this.weighted({ none: 3, instant: 3, short: 4, long: 4, veryLong: 1 });
    const ranges = {
      none: [0, 0],
      instant: [1, 40],
      short: [50, 1_500],
      long: [1_500, 12_000],
      veryLong: [12_000, 70_000],
    };
    const [low = 0, high = 0] = ranges[scale];
    return this.whole(low, high);
  }
}
