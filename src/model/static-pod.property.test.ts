import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, toStaticPod } from './static-pod.ts';

const origin = { nodeName: 'n', source: 'file', origin: '/a', seen: 's' } as const;
const texts = fc.dictionary(fc.string({ minLength: 1 }), fc.string(), { maxKeys: 6 });

function reversed(record: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).toReversed());
}

test('the uid does not depend on the order of keys or on the time', () => {
  fc.assert(
    fc.property(texts, texts, fc.string(), (labels, nodeSelector, seen) => {
      const one = toStaticPod({ metadata: { name: 'a', labels }, spec: { containers: [], nodeSelector } }, origin);
      const other = toStaticPod(
        {
          spec: { nodeSelector: reversed(nodeSelector), containers: [] },
          metadata: { labels: reversed(labels), name: 'a' },
        },
        { ...origin, seen },
      );
      assert.equal(one.metadata?.uid, other.metadata?.uid);
    }),
  );
});

test('different contents have different uids', () => {
  fc.assert(
    fc.property(texts, texts, (left, right) => {
      const uidOf = (labels: Record<string, string>): unknown =>
        toStaticPod({ metadata: { name: 'a', labels }, spec: { containers: [] } }, origin).metadata?.uid;
      assert.equal(uidOf(left) === uidOf(right), canonicalJson(left) === canonicalJson(right));
    }),
  );
});

test('canonical JSON is JSON of the same data', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.deepEqual(JSON.parse(canonicalJson(value)), JSON.parse(JSON.stringify(value)));
    }),
  );
});
