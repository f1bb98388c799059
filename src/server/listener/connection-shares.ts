import type { CountLimit } from './limits.ts';

/** How far an unauthenticated connection has come: nothing was heard, something was, a whole request was. */
export type ConnectionStage = 'silent' | 'speaking' | 'asked';

const stages: readonly ConnectionStage[] = ['silent', 'speaking', 'asked'];

type StageSets<C> = Readonly<Record<ConnectionStage, Set<C>>>;

interface Excess<C> {
  readonly connection: C;
  readonly reason: 'too many connections of its address' | 'too many connections in all';
}

/**
 * Who has to go when there are more unauthenticated connections than there may be: of the address with the most, the
 * oldest of the stage with the most. So a flood gives way to others, and a stage that is flooded leaves a third of the
 * address's share to each of the others: 200 silent connections do not push out one in the middle of its handshake.
 */
export class ConnectionShares<C> {
  readonly #limit: CountLimit;
  readonly #byAddress = new Map<string, StageSets<C>>();
  #all = 0;

  constructor(limit: CountLimit) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#all;
  }

  add(address: string, stage: ConnectionStage, connection: C): void {
    const sets = this.#byAddress.get(address) ?? { silent: new Set(), speaking: new Set(), asked: new Set() };
    this.#byAddress.set(address, sets);
    sets[stage].add(connection);
    this.#all++;
  }

  /** Unknown ones are no mistake: they may have left. */
  remove(address: string, connection: C): boolean {
    const sets = this.#byAddress.get(address);
    if (sets === undefined || !stages.some((stage) => sets[stage].delete(connection))) return false;
    this.#all--;
    if (countOf(sets) === 0) this.#byAddress.delete(address);
    return true;
  }

  move(address: string, connection: C, stage: ConnectionStage): void {
    if (this.remove(address, connection)) this.add(address, stage, connection);
  }

  /** The next that has to go, or nothing when all have room. */
  excess(): Excess<C> | undefined {
    const { inAll, each } = this.#limit;
    let fullest: StageSets<C> | undefined;
    for (const sets of this.#byAddress.values()) {
      if (fullest === undefined || countOf(sets) > countOf(fullest)) fullest = sets;
    }
    if (fullest === undefined) return undefined;
    const isAddress = countOf(fullest) > each;
    if (!isAddress && this.#all <= inAll) return undefined;
    const connection = oldest(fullest);
    const reason = isAddress ? 'too many connections of its address' : 'too many connections in all';
    return connection === undefined ? undefined : { connection, reason };
  }
}

function countOf<C>({ silent, speaking, asked }: StageSets<C>): number {
  return silent.size + speaking.size + asked.size;
}

function oldest<C>(sets: StageSets<C>): C | undefined {
  let most = sets.silent;
  for (const stage of stages) if (sets[stage].size > most.size) most = sets[stage];
  return most.values().next().value;
}
