import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { podUid } from '../../base/ids.ts';
import { diffListing, type Listing } from './diff-listing.ts';

/** Few names and few states, so that two listings often agree in part. A listed pod has something listed. */
const items = fc.dictionary(fc.constantFrom('s0', 's1', 'c0', 'c1'), fc.constantFrom('running', 'exited'), {
  minKeys: 1,
});
const pods = fc.dictionary(fc.constantFrom('a', 'b', 'c'), items);
type Pods = Readonly<Record<string, Readonly<Record<string, string>>>>;

function listing(content: Pods, reversed = false): Listing {
  return new Map(
    Object.entries(content).map(([uid, states]) => {
      const listed = Object.entries(states).map(([id, state]) => ({ id, state }));
      return [podUid(uid), { name: uid, namespace: 'default', items: reversed ? listed.toReversed() : listed }];
    }),
  );
}

const sorted = (states: Readonly<Record<string, string>> | undefined): string =>
  Object.entries(states ?? {})
    .map(([id, state]) => `${id}=${state}`)
    .toSorted()
    .join();

test('exactly the pods whose items or states differ, each once', () => {
  fc.assert(
    fc.property(pods, pods, fc.boolean(), (before, after, reversed) => {
      const uids = [...new Set([...Object.keys(before), ...Object.keys(after)])];
      const differing = uids.filter((uid) => sorted(before[uid]) !== sorted(after[uid]));
      const changed = diffListing(listing(before), listing(after, reversed));
      assert.deepEqual([...changed].toSorted(), differing.toSorted());
    }),
  );
});

test('empty if and only if both listings hold the same', () => {
  fc.assert(
    fc.property(pods, (content) => {
      assert.deepEqual(diffListing(listing(content), listing(content, true)), []);
    }),
  );
  fc.assert(
    fc.property(pods, pods, (before, after) => {
      const same =
        Object.keys(before).length === Object.keys(after).length &&
        Object.keys(before).every((uid) => sorted(before[uid]) === sorted(after[uid]));
      assert.equal(diffListing(listing(before), listing(after)).length === 0, same);
    }),
  );
});
