import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ExpiringLru } from './expiring-lru.ts';

const max = 4;

/** The same, computed from everything that ever happened. */
class NaiveCache {
  readonly #uses: { readonly key: string; readonly value: number; readonly until: number }[] = [];

  get(key: string, now: number): number | undefined {
    const at = this.#uses.findIndex((use) => use.key === key);
    const [use] = at === -1 ? [] : this.#uses.splice(at, 1);
    if (use === undefined || use.until <= now) return undefined;
    this.#uses.push(use);
    return use.value;
  }

  set(key: string, value: number, until: number, now: number): void {
    const at = this.#uses.findIndex((use) => use.key === key);
    if (at !== -1) this.#uses.splice(at, 1);
    if (until <= now) return;
    this.#uses.push({ key, value, until });
    if (this.#uses.length > max) this.#uses.shift();
  }
}

test('remembers what a list of everything would, and never more than it may', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  const step = fc.oneof(
    fc.record({ kind: fc.constant('get' as const), key }),
    fc.record({ kind: fc.constant('set' as const), key, value: fc.nat(99), ttl: fc.integer({ min: -1, max: 20 }) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(15) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 0;
      const cache = new ExpiringLru<number>({ monotonic: () => now }, max);
      const naive = new NaiveCache();
      for (const at of steps) {
        if (at.kind === 'wait') now += at.ms;
        else if (at.kind === 'get') assert.equal(cache.get(at.key), naive.get(at.key, now));
        else {
          cache.set(at.key, at.value, at.ttl);
          naive.set(at.key, at.value, now + at.ttl, now);
        }
        assert.ok(cache.size <= max);
      }
    }),
    { numRuns: 500 },
  );
});
