import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { podUid } from '../base/ids.ts';
import { silentLog } from '../base/log.ts';
import { decisionKinds, type Decision, type DecisionInput } from '../model/decisions.ts';
import { PodRemoval } from '../model/pod-removal.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { FlightRecorder } from './flight-recorder.ts';

const limits = { podEntries: 6, podBytes: 12_000, nodeEntries: 10, nodeBytes: 30_000, pods: 3, removedPods: 2 };

const text = fc.oneof(fc.constantFrom('', 'A', 'B'), fc.string({ maxLength: 5_000, unit: 'grapheme' }));
const input: fc.Arbitrary<DecisionInput> = fc.anything({
  maxDepth: 5,
  maxKeys: 60,
  values: [text, fc.double(), fc.bigInt(), fc.boolean(), fc.constant(null), fc.constant(undefined)],
}) as fc.Arbitrary<DecisionInput>;
const decision: fc.Arbitrary<Decision> = fc.record(
  {
    kind: fc.constantFrom(...decisionKinds),
    by: fc.constantFrom('pod-worker', 'pod-runtime'),
    reason: text,
    message: text,
    containerName: text,
    inputs: fc.dictionary(text, input),
    nextTryInMs: fc.oneof(fc.integer({ min: -10, max: 100_000 }), fc.double()),
  },
  { requiredKeys: ['kind', 'by', 'reason', 'message'] },
);
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ uid: fc.constantFrom('a', 'b', 'c', 'd', 'e'), decision }) },
  { weight: 1, arbitrary: fc.record({ uid: fc.constantFrom('a', 'b', 'c', 'd', 'e'), removed: fc.constant(true) }) },
  { weight: 1, arbitrary: fc.record({ decision }) },
);

test('whatever is recorded: nothing throws, everything is bounded, the last decision about a pod is its last', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const removal = new PodRemoval(silentLog);
      const recorder = new FlightRecorder({ clock: new FakeClock(), removal, limits });
      for (const one of steps) {
        if ('removed' in one) removal.podRemoved(podUid(one.uid));
        else if ('uid' in one) {
          recorder.pod({ uid: podUid(one.uid) }, one.decision);
          assert.equal(recorder.podPage(one.uid)?.decisions.at(-1)?.kind, one.decision.kind);
        } else recorder.node(one.decision);

        const pods = recorder.pods();
        const here = pods.filter(({ removedTime }) => removedTime === undefined);
        assert.ok(here.length <= limits.pods && pods.length - here.length <= limits.removedPods);
        assert.equal(removal.sizes().get('flight-recorder'), here.length);
        assert.equal(new Set(pods.map(({ uid }) => uid)).size, pods.length, 'each pod once');
        for (const { uid } of pods) {
          const page = recorder.podPage(uid);
          assert.ok((page?.decisions.length ?? 0) <= limits.podEntries);
          // Escapes make text longer: a control character takes six characters in JSON.
          assert.ok(JSON.stringify(page).length <= 6 * limits.podBytes + 2_000);
        }
        assert.ok(recorder.nodePage().decisions.length <= limits.nodeEntries);
      }
      for (const uid of ['a', 'b', 'c', 'd', 'e']) removal.podRemoved(podUid(uid));
      assert.equal(removal.sizes().get('flight-recorder'), 0);
    }),
    { numRuns: 200 },
  );
});

test('all that was decided is counted, kept or not', () => {
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 80 }), (decisions) => {
      const recorder = new FlightRecorder({ clock: new FakeClock(), removal: new PodRemoval(silentLog), limits });
      // A moment at which it is tried again may make two of them one.
      for (const { nextTryInMs: _, ...one } of decisions) recorder.node(one);
      const { decisions: kept, droppedDecisions } = recorder.nodePage();
      assert.equal(
        kept.reduce((sum, { count }) => sum + count, droppedDecisions),
        decisions.length,
      );
    }),
  );
});
