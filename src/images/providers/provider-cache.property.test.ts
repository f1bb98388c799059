import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Masked } from '../../base/masked.ts';
import type { RegistryEntry } from '../credentials/docker-config.ts';
import { ProviderCache } from './provider-cache.ts';

const image = fc.constantFrom('a.example/x', 'a.example/y', 'b.example/x', 'global');
const account = fc.constantFrom('', 'one', 'two');
const subject = fc.record({ image, account });
const scope = fc.constantFrom('Image' as const, 'Registry' as const, 'Global' as const);
const step = fc.oneof(
  fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 400 }) }),
  fc.record({ kind: fc.constant('put' as const), scope, subject, ms: fc.integer({ min: 0, max: 500 }) }),
  fc.record({ kind: fc.constant('get' as const), subject }),
);

test('an answer is used while it is valid and within its scope, the narrowest first', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let now = 0;
      const cache = new ProviderCache({ monotonic: () => now });
      const put: {
        readonly scope: string;
        readonly place: string;
        readonly account: string;
        readonly until: number;
        readonly entries: RegistryEntry[];
      }[] = [];
      const places = (name: string) => [
        ['Image', name],
        ['Registry', name.split('/')[0] ?? ''],
        ['Global', ''],
      ];
      for (const [index, step] of steps.entries()) {
        if (step.kind === 'wait') now += step.ms;
        else if (step.kind === 'put') {
          const entries = [{ registry: `r${index}`, auth: new Masked({ username: '', password: '' }) }];
          cache.put(step.scope, step.subject, entries, step.ms);
          const place = places(step.subject.image).find(([scope]) => scope === step.scope)?.[1] ?? '';
          // An answer that must not be kept leaves the one before it alone.
          if (step.ms > 0)
            put.unshift({ scope: step.scope, place, account: step.subject.account, until: now + step.ms, entries });
        } else {
          const expected = places(step.subject.image)
            .map(([scope, place]) =>
              put.find((one) => one.scope === scope && one.place === place && one.account === step.subject.account),
            )
            .find((one) => one !== undefined && now <= one.until);
          assert.equal(cache.get(step.subject), expected?.entries);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test('expired answers are dropped', () => {
  let now = 0;
  const cache = new ProviderCache({ monotonic: () => now });
  for (let n = 0; n < 100; n++) {
    cache.put('Image', { image: `a.example/${n}`, account: '' }, [], 10);
    now += 5;
  }
  assert.ok(cache.size <= 4, `${cache.size}`);
});
