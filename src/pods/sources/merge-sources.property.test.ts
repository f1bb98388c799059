import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { desiredPod, type DesiredPod } from '../../model/desired-pod.ts';
import type { PodUpdate } from '../../model/pod-update.ts';
import { computeUpdates, type KnownPods } from './merge-sources.ts';

/** A small world, so that sets meet again in all ways. */
const onePod = fc
  .record({
    uid: fc.constantFrom('1', '2', '3', '4'),
    name: fc.constantFrom('a', 'b', 'c'),
    hostname: fc.constantFrom('x', 'y'),
    phase: fc.constantFrom('Pending', 'Running'),
    deleted: fc.boolean(),
    seen: fc.constantFrom('early', 'late'),
  })
  .map(({ uid, name, hostname, phase, deleted, seen }) =>
    desiredPod('file', {
      metadata: {
        uid,
        name,
        namespace: 'ns',
        annotations: { 'kubernetes.io/config.seen': seen },
        ...(deleted && { deletionTimestamp: 't' }),
      },
      spec: { containers: [], hostname },
      status: { phase },
    }),
  );
const sets = fc.array(fc.array(onePod, { maxLength: 5 }), { maxLength: 6 });

/** What somebody who only hears the updates believes. */
function apply(model: Map<string, DesiredPod>, update: PodUpdate): void {
  for (const pod of update.pods) {
    switch (update.op) {
      case 'add':
        assert.ok(!model.has(pod.uid), 'added twice');
        model.set(pod.uid, pod);
        break;
      case 'remove':
        assert.ok(model.delete(pod.uid), 'removed without having been added');
        break;
      case 'update':
      case 'delete':
      case 'reconcile':
        assert.ok(model.has(pod.uid), 'changed without having been added');
        model.set(pod.uid, pod);
        break;
      case 'set':
        assert.fail('a set carries no pods');
    }
  }
}

const essence = (pods: Iterable<DesiredPod>): unknown =>
  [...pods]
    .map(({ uid, name, spec, status, metadata }) => ({ uid, name, spec, status, deleted: metadata.deletionTimestamp }))
    .sort((left, right) => (left.uid < right.uid ? -1 : 1));

test('whoever applies the updates has the set of the source, less duplicates, and hears of every set at least once', () => {
  fc.assert(
    fc.property(sets, (told) => {
      const model = new Map<string, DesiredPod>();
      const firstSeen = new Map<string, string | undefined>();
      let known: KnownPods | undefined;
      for (const [index, set] of told.entries()) {
        const merged = computeUpdates(known, 'file', set, 'now');
        known = merged.known;
        const before = new Map(model);
        if (index === 0) assert.ok(merged.updates.length > 0);
        for (const update of merged.updates) apply(model, update);
        const kept = set.filter((pod) => !merged.duplicates.includes(pod));
        assert.deepEqual(essence(model.values()), essence(kept));
        for (const [uid, pod] of model) {
          const seen = pod.metadata.annotations?.['kubernetes.io/config.seen'];
          if (before.get(uid)?.name === pod.name) assert.equal(seen, firstSeen.get(uid));
          else firstSeen.set(uid, seen);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test('telling the same set again says nothing', () => {
  fc.assert(
    fc.property(fc.array(onePod, { maxLength: 6 }), (set) => {
      const first = computeUpdates(undefined, 'file', set, 'now');
      assert.deepEqual(computeUpdates(first.known, 'file', set, 'later').updates, []);
    }),
  );
});
