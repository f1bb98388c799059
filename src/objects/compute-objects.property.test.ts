import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { objectKey, type StandaloneObject } from '../model/standalone-object.ts';
import { computeObjects, type KnownObjects } from './compute-objects.ts';

/** A small world, so that sets meet again in all ways. */
const values = fc.dictionary(fc.constantFrom('k', 'l'), fc.constantFrom('1', '2'), { noNullPrototype: true });
const oneObject = fc
  .record({
    kind: fc.constantFrom('ConfigMap' as const, 'Secret' as const),
    name: fc.constantFrom('a', 'b'),
    data: values,
    immutable: fc.boolean(),
  })
  .map(({ kind, name, data, immutable }): StandaloneObject => ({
    kind,
    namespace: 'ns',
    name,
    path: '/m',
    line: 1,
    object: { data, immutable },
  }));

/** What should count, computed in another way: per key. */
function expectedData(before: StandaloneObject | undefined, first: StandaloneObject): unknown {
  return before?.object.immutable === true ? before.object.data : first.object.data;
}

test('the first of each name counts, immutable ones stay, changes are exactly the differences', () => {
  fc.assert(
    fc.property(fc.array(fc.array(oneObject, { maxLength: 4 }), { maxLength: 6 }), (sets) => {
      let known: KnownObjects = new Map();
      for (const manifests of sets) {
        const { objects, changed, problems } = computeObjects(known, manifests);
        const firsts = new Map(manifests.toReversed().map((object) => [objectKey(object), object]));
        assert.deepEqual(new Set(objects.keys()), new Set(firsts.keys()));
        let unheeded = manifests.length - firsts.size;
        for (const [key, first] of firsts) {
          assert.deepEqual(objects.get(key)?.object.data, expectedData(known.get(key), first));
          if (!isDeepStrictEqual(objects.get(key)?.object, first.object)) unheeded++;
        }
        assert.equal(problems.length, unheeded, 'what does not count is reported, each once');
        const differs = (key: string): boolean =>
          !isDeepStrictEqual(known.get(key)?.object.data, objects.get(key)?.object.data);
        const expected = [...new Set([...known.keys(), ...objects.keys()])].filter(differs);
        assert.deepEqual(new Set(changed.map(objectKey)), new Set(expected));
        known = objects;
      }
    }),
    { numRuns: 500 },
  );
});
