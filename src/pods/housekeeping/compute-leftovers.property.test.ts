import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { podUid } from '../../base/ids.ts';
import { computeLeftovers } from './compute-leftovers.ts';

const uid = fc.constantFrom('a', 'b', 'c', 'd').map(podUid);
const uids = fc.uniqueArray(uid);

const situation = fc.record({
  sourcesReady: fc.boolean(),
  desired: uids,
  workers: fc.uniqueArray(fc.record({ uid, canBeRemoved: fc.boolean() }), { selector: (worker) => worker.uid }),
  inRuntime: uids,
  onDisk: uids,
});

test('only what no source names and no worker has, and each pod in one way', () => {
  fc.assert(
    fc.property(situation, ({ sourcesReady, desired, workers, inRuntime, onDisk }) => {
      const { orphans, remains, orphanedDirectories } = computeLeftovers({
        sourcesReady,
        isDesired: (uid) => desired.includes(uid),
        workers,
        inRuntime: inRuntime.map((uid) => ({ uid, name: 'web', namespace: 'default' })),
        onDisk,
      });
      const all = [...orphans.map((orphan) => orphan.uid), ...remains, ...orphanedDirectories];
      if (!sourcesReady) assert.deepEqual(all, []);
      assert.equal(new Set(all).size, all.length, 'one thing is done about a pod');
      for (const uid of all) {
        assert.equal(desired.includes(uid) && !remains.includes(uid), false, `${uid} is desired`);
        const worker = workers.find((candidate) => candidate.uid === uid);
        assert.equal(worker === undefined || worker.canBeRemoved, true, `the worker of ${uid} is not over`);
        assert.equal(worker !== undefined || inRuntime.includes(uid) || onDisk.includes(uid), true);
      }
    }),
  );
});

test('nothing is overlooked for ever: whatever is known of an unwanted pod is dealt with', () => {
  fc.assert(
    fc.property(situation, ({ desired, workers, inRuntime, onDisk }) => {
      const { orphans, remains, orphanedDirectories } = computeLeftovers({
        sourcesReady: true,
        isDesired: (uid) => desired.includes(uid),
        workers,
        inRuntime: inRuntime.map((uid) => ({ uid, name: 'web', namespace: 'default' })),
        onDisk,
      });
      const dealtWith = new Set([...orphans.map((orphan) => orphan.uid), ...remains, ...orphanedDirectories]);
      const over = new Map(workers.map((worker) => [worker.uid, worker.canBeRemoved]));
      for (const uid of new Set([...over.keys(), ...inRuntime, ...onDisk])) {
        assert.equal(dealtWith.has(uid), over.get(uid) ?? !desired.includes(uid), uid);
      }
    }),
  );
});
