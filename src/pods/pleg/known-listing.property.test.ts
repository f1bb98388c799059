import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { podUid } from '../../base/ids.ts';
import type { ListedPod } from './diff-listing.ts';
import { KnownListing } from './known-listing.ts';

const uids = ['a', 'b', 'c'].map(podUid);
const states = fc.constantFrom('created', 'running', 'exited');

/** An id belongs to one pod: it carries the pod's name. */
const podOf = (uid: string): fc.Arbitrary<ListedPod> =>
  fc.dictionary(fc.constantFrom('0', '1', '2'), states).map((items) => ({
    name: uid,
    namespace: 'default',
    items: Object.entries(items).map(([n, state]) => ({ id: `${uid}${n}`, state })),
  }));

const step = fc.oneof(
  fc.tuple(...uids.map(podOf)).map((pods) => ({
    do: (listing: KnownListing) => listing.replace(new Map(pods.map((pod) => [podUid(pod.name), pod]))),
  })),
  fc
    .constantFrom(...uids)
    .chain((uid) => podOf(uid).map((pod) => ({ do: (listing: KnownListing) => listing.set(uid, pod) }))),
  fc.constantFrom(...uids).map((uid) => ({ do: (listing: KnownListing) => listing.delete(uid) })),
);

test('it finds by id exactly what it lists', () => {
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const listing = new KnownListing();
      for (const each of steps) each.do(listing);
      const listed = new Map(
        [...listing.pods].flatMap(([uid, { items }]) => items.map(({ id, state }) => [id, { uid, state }] as const)),
      );
      for (const id of uids.flatMap((uid) => [0, 1, 2].map((n) => `${uid}${n}`))) {
        assert.deepEqual(listing.find(id), listed.get(id));
      }
    }),
  );
});

test('a listing that was replaced is left as it was', () => {
  const listing = new KnownListing();
  listing.set(podUid('a'), { name: 'a', namespace: 'default', items: [] });
  const before = listing.pods;
  listing.replace(new Map());
  assert.deepEqual([before.size, listing.pods.size], [1, 0]);
});
