import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { desiredPod, type DesiredPod, type PodSource } from '../../model/desired-pod.ts';
import type { PodUpdate } from '../../model/pod-update.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { computeUpdates, PodSources, type KnownPods } from './merge-sources.ts';

/** A small world, so that sets meet again in all ways. */
const onePod = fc
  .record({
    uid: fc.constantFrom('1', '2', '3', '4'),
    name: fc.constantFrom('a', 'b', 'c'),
    hostname: fc.constantFrom('x', 'y'),
    phase: fc.constantFrom('Pending', 'Running'),
    deleted: fc.boolean(),
    grace: fc.constantFrom(1, 30),
    label: fc.constantFrom('l', 'm'),
    note: fc.constantFrom('n', 'o'),
    seen: fc.constantFrom('early', 'late'),
  })
  .map(({ uid, name, hostname, phase, deleted, grace, label, note, seen }) =>
    desiredPod('file', {
      metadata: {
        uid,
        name,
        namespace: 'ns',
        labels: { label },
        annotations: { note, 'kubernetes.io/config.seen': seen },
        ...(deleted && { deletionTimestamp: 't', deletionGracePeriodSeconds: grace }),
      },
      spec: { containers: [], hostname },
      status: { phase },
    }),
  );
const sets = fc.array(fc.array(onePod, { maxLength: 5 }), { maxLength: 6 });

/** The pods that a reader of the updates knows. */
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

test('a reader of the updates has the set of the source, less duplicates, and gets every set at least once', () => {
  fc.assert(
    fc.property(sets, (reported) => {
      const model = new Map<string, DesiredPod>();
      const firstSeen = new Map<string, string | undefined>();
      let known: KnownPods | undefined;
      for (const [index, set] of reported.entries()) {
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

test('the same set again makes no update', () => {
  fc.assert(
    fc.property(fc.array(onePod, { maxLength: 6 }), (set) => {
      const first = computeUpdates(undefined, 'file', set, 'now');
      assert.deepEqual(computeUpdates(first.known, 'file', set, 'later').updates, []);
    }),
  );
});

/** The operation of a change, computed in another way: from the parts of a pod as texts. */
function expectedOp(before: DesiredPod | undefined, after: DesiredPod): string | undefined {
  if (before?.name !== after.name) return 'add';
  const key = ({ spec, metadata }: DesiredPod): string => {
    const { labels, annotations, deletionTimestamp, deletionGracePeriodSeconds } = metadata;
    return JSON.stringify([spec, labels, annotations?.['note'], deletionTimestamp, deletionGracePeriodSeconds]);
  };
  if (key(before) !== key(after)) return after.metadata.deletionTimestamp === undefined ? 'update' : 'delete';
  return before.status.phase === after.status.phase ? undefined : 'reconcile';
}

test('each pod is updated at most once per set, with the one operation that its change asks for', () => {
  fc.assert(
    fc.property(sets, (reported) => {
      let known: KnownPods | undefined;
      let before = new Map<string, DesiredPod>();
      for (const set of reported) {
        const merged = computeUpdates(known, 'api', set, 'now');
        const ops = new Map<string, string>();
        for (const { op, pods } of merged.updates) {
          if (op === 'remove') continue;
          for (const pod of pods) {
            assert.ok(!ops.has(pod.uid), 'reported twice');
            ops.set(pod.uid, op);
          }
        }
        const now = new Map(set.filter((pod) => !merged.duplicates.includes(pod)).map((pod) => [String(pod.uid), pod]));
        for (const [uid, pod] of now) assert.equal(ops.get(uid), expectedOp(before.get(uid), pod));
        const removed = merged.updates.flatMap(({ op, pods }) =>
          op === 'remove' ? pods.map((pod) => String(pod.uid)) : [],
        );
        const missing = [...before].filter(([uid, pod]) => now.get(uid)?.name !== pod.name).map(([uid]) => uid);
        assert.deepEqual(new Set(removed), new Set(missing));
        known = merged.known;
        before = now;
      }
    }),
    { numRuns: 500 },
  );
});

const order = ['remove', 'add', 'update', 'delete', 'set', 'reconcile'];
test('updates of one set come in order, none is empty but the first set of a source without pods', () => {
  fc.assert(
    fc.property(sets, (reported) => {
      let known: KnownPods | undefined;
      for (const [index, set] of reported.entries()) {
        const { updates, known: next } = computeUpdates(known, 'api', set, 'now');
        const places = updates.map(({ op }) => order.indexOf(op));
        assert.deepEqual(
          places,
          [...new Set(places)].sort((left, right) => left - right),
        );
        for (const { op, pods } of updates) assert.equal(pods.length === 0, op === 'set');
        assert.equal(
          updates.some(({ op }) => op === 'set'),
          index === 0 && set.length === 0,
        );
        known = next;
      }
    }),
  );
});

const sourceNames: readonly PodSource[] = ['file', 'http', 'api'];
const setsOfSources = fc.array(fc.tuple(fc.constantFrom(...sourceNames), fc.array(onePod, { maxLength: 4 })), {
  maxLength: 8,
});
test('sources together: ready when all have been read, one owner per uid, and no pod is left out without need', () => {
  fc.assert(
    fc.property(fc.subarray([...sourceNames], { minLength: 1 }), setsOfSources, (configured, reported) => {
      const model = new Map<string, DesiredPod>();
      const sources = new PodSources({
        recordDuplicate: () => undefined,
        clock: new FakeClock(),
        log: new MemoryLog(),
        configured,
        onUpdate: (update) => {
          for (const pod of update.pods) assert.equal(pod.source, update.source);
          // Keyed by uid alone, as everything behind is: fails where two sources have one uid.
          apply(model, update);
        },
      });
      const last = new Map<PodSource, readonly DesiredPod[]>();
      for (const [source, set] of reported) {
        if (!configured.includes(source)) continue;
        const own = set.map((pod) => desiredPod(source, pod));
        sources.set(source, own);
        last.set(source, own);
        assert.equal(sources.sourcesReady(), last.size === configured.length);
        for (const name of sourceNames) assert.equal(sources.seen(name), last.has(name));
        const wanted = new Set([...last.values()].flatMap((pods) => pods.map((pod) => pod.uid)));
        for (const uid of model.keys())
          assert.ok(
            [...wanted].some((one) => one === uid),
            'no source names it',
          );
        for (const pods of last.values()) {
          for (const [index, pod] of pods.entries()) {
            const twin = pods.some((one, at) => at !== index && (one.uid === pod.uid || one.name === pod.name));
            assert.ok(model.has(pod.uid) || twin, `${pod.name} of ${pod.source} is missing`);
          }
        }
      }
    }),
    { numRuns: 300 },
  );
});
