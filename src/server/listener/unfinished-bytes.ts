import type { ByteLimit } from './limits.ts';

/** An unauthenticated connection, and what has come of it since its last whole request. */
interface UnfinishedConnection<C> {
  readonly connection: C;
  readonly address: string;
  readonly bytes: number;
}

interface UnfinishedVictim<C> {
  readonly connection: C;
  readonly reason: string;
}

/**
 * Which connections end because of what they sent without ever making a request of it. Each by itself first; then those
 * with the most bytes, of an address that has too many and of all. A client that asks something has sent little.
 */
export function chooseUnfinished<C>(
  connections: readonly UnfinishedConnection<C>[],
  limit: ByteLimit,
): readonly UnfinishedVictim<C>[] {
  const victims: UnfinishedVictim<C>[] = [];
  const perAddress = new Map<string, number>();
  let inAll = 0;
  const rest: UnfinishedConnection<C>[] = [];
  for (const one of connections) {
    if (one.bytes > limit.perConnection) {
      victims.push({ connection: one.connection, reason: `${one.bytes} bytes without a request` });
      continue;
    }
    rest.push(one);
    inAll += one.bytes;
    perAddress.set(one.address, (perAddress.get(one.address) ?? 0) + one.bytes);
  }
  const isOver = (address: string): boolean => (perAddress.get(address) ?? 0) > limit.perAddress;
  if (inAll <= limit.inAll && ![...perAddress.keys()].some(isOver)) return victims;
  for (const { connection, address, bytes } of rest.toSorted((a, b) => b.bytes - a.bytes)) {
    const ofAddress = isOver(address);
    if (!ofAddress && inAll <= limit.inAll) continue;
    inAll -= bytes;
    perAddress.set(address, (perAddress.get(address) ?? 0) - bytes);
    const whose = ofAddress ? 'of its address' : 'in all';
    victims.push({ connection, reason: `too many bytes without a request ${whose}` });
  }
  return victims;
}
