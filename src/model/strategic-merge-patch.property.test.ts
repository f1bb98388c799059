import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createStrategicMergePatch } from './strategic-merge-patch.ts';
import { applyStrategicMergePatch } from '../testing/apply-strategic-merge-patch.ts';

const word = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const labels = fc.dictionary(word, word, { noNullPrototype: true });
const optional = { requiredKeys: [], noNullPrototype: true };
const needs = <K extends string>(key: K) => ({ requiredKeys: [key], noNullPrototype: true });
const keyed = <T>(key: string, item: fc.Arbitrary<T>): fc.Arbitrary<readonly T[]> =>
  fc.uniqueArray(item, { selector: (value) => (value as Record<string, unknown>)[key], maxLength: 5 });
const condition = fc.record({ type: word, status: word, reason: word }, needs('type'));
const env = fc.record({ name: word, value: word }, needs('name'));
const container = fc.record(
  {
    name: word,
    env: keyed('name', env),
    args: fc.array(word, { maxLength: 3 }),
    resources: fc.record({ limits: labels }, optional),
  },
  needs('name'),
);
const meta = fc.record({ labels, finalizers: fc.uniqueArray(word), name: word }, optional);
const pod = fc.record(
  {
    metadata: meta,
    spec: fc.record({ containers: keyed('name', container), nodeSelector: labels }, optional),
    status: fc.record({ conditions: keyed('type', condition), phase: word }, optional),
  },
  optional,
);
const node = fc.record(
  {
    metadata: meta,
    status: fc.record(
      {
        conditions: keyed('type', condition),
        // Two of one type are in order: two families.
        addresses: fc.array(fc.record({ type: word, address: word }, needs('type')), { maxLength: 4 }),
        images: fc.array(fc.record({ names: fc.array(word, { maxLength: 2 }) }, needs('names')), { maxLength: 3 }),
      },
      optional,
    ),
  },
  optional,
);

for (const [typeName, object] of [
  ['Pod', pod],
  ['Node', node],
] as const) {
  test(`a patch of a ${typeName} makes of the first what the second is`, () => {
    fc.assert(
      fc.property(object, object, (before: object, after: object) => {
        const patch = createStrategicMergePatch(before, after, typeName);
        assert.deepEqual(applyStrategicMergePatch(before, JSON.parse(JSON.stringify(patch)), typeName), after);
      }),
      { numRuns: 500 },
    );
  });
}

test('foreign conditions survive whatever is done to ours', () => {
  const foreign = { type: 'foreign', status: 'x' };
  fc.assert(
    fc.property(keyed('type', condition), keyed('type', condition), fc.nat(5), (before, after, at) => {
      const patch = createStrategicMergePatch(
        { status: { conditions: before } },
        { status: { conditions: after } },
        'Pod',
      );
      const stored = { status: { conditions: [...before.slice(0, at), foreign, ...before.slice(at)] } };
      const { conditions } = applyStrategicMergePatch(stored, patch, 'Pod').status;
      assert.deepEqual(
        conditions.filter((item) => item !== foreign),
        after,
      );
      assert.ok(conditions.includes(foreign));
    }),
  );
});
