import type { Clock } from '../../base/clock.ts';
import type { RegistryEntry } from '../credentials/docker-config.ts';
import type { CacheScope } from './plugin-protocol.ts';

/** What an answer is for: an image, and the pod's service account where there is one. */
interface CacheSubject {
  readonly image: string;
  /** Empty for the node itself. */
  readonly account: string;
}

interface CachedAnswer {
  readonly entries: readonly RegistryEntry[];
  readonly expiresAt: number;
}

/** From the narrowest to the widest: an answer for the image itself is preferred. */
const scopes: readonly CacheScope[] = ['Image', 'Registry', 'Global'];

/** The answers of one plugin, each with the duration and the scope that the plugin gave. */
export class ProviderCache {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #answers = new Map<string, CachedAnswer>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#answers.size;
  }

  get(subject: CacheSubject): readonly RegistryEntry[] | undefined {
    const now = this.#clock.monotonic();
    for (const scope of scopes) {
      const answer = this.#answers.get(keyOf(scope, subject));
      if (answer !== undefined && now <= answer.expiresAt) return answer.entries;
    }
    return undefined;
  }

  put(scope: CacheScope, subject: CacheSubject, entries: readonly RegistryEntry[], durationMs: number): void {
    const now = this.#clock.monotonic();
    // Passwords that are not used any more should not stay in memory.
    for (const [key, { expiresAt }] of this.#answers) if (expiresAt < now) this.#answers.delete(key);
    if (durationMs > 0) this.#answers.set(keyOf(scope, subject), { entries, expiresAt: now + durationMs });
  }
}

function keyOf(scope: CacheScope, { image, account }: CacheSubject): string {
  const [registry = ''] = image.split('/');
  const place = { Image: image, Registry: registry, Global: '' }[scope];
  return JSON.stringify([scope, place, account]);
}
