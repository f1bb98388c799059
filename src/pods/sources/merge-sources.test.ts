import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectMeta, PodSpec, PodStatus } from '../../gen/kubernetes/types.ts';
import { desiredPod, type DesiredPod, type PodSource } from '../../model/desired-pod.ts';
import type { PodUpdate } from '../../model/pod-update.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { computeUpdates, PodSources, type KnownPods } from './merge-sources.ts';

interface Changes {
  readonly metadata?: ObjectMeta;
  readonly spec?: Partial<PodSpec>;
  readonly status?: PodStatus;
}
const pod = (uid: string, { metadata, spec, status = {} }: Changes = {}): DesiredPod =>
  desiredPod('api', {
    metadata: { uid, name: uid, namespace: 'ns', ...metadata },
    spec: { containers: [], ...spec },
    status,
  });

/** `op:name,name` of each update. */
const reported = (updates: readonly PodUpdate[]): string[] =>
  updates.map(({ op, pods }) => `${op}:${pods.map((one) => one.uid).join(',')}`);
const known = (...pods: readonly DesiredPod[]): KnownPods => computeUpdates(undefined, 'api', pods, 'first').known;

const a = pod('a');
test('what a set changes', () => {
  const cases: readonly (readonly [string, KnownPods | undefined, readonly DesiredPod[], readonly string[]])[] = [
    ['first and empty', undefined, [], ['set:']],
    ['first', undefined, [a, pod('b')], ['add:a,b']],
    ['empty again', known(), [], []],
    ['nothing new', known(a), [pod('a')], []],
    ['removed', known(a), [], ['remove:a']],
    ['replaced', known(a), [pod('b', { metadata: { name: 'a' } })], ['remove:a', 'add:b']],
    ['spec', known(a), [pod('a', { spec: { hostname: 'x' } })], ['update:a']],
    ['labels', known(a), [pod('a', { metadata: { labels: { x: '1' } } })], ['update:a']],
    ['no labels are no labels', known(a), [pod('a', { metadata: { labels: {} } })], []],
    ['annotations', known(a), [pod('a', { metadata: { annotations: { x: '1' } } })], ['update:a']],
    ['own annotations', known(a), [pod('a', { metadata: { annotations: { 'kubernetes.io/config.seen': 'x' } } })], []],
    ['mirror mark', known(a), [pod('a', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } })], []],
    ['hash', known(a), [pod('a', { metadata: { annotations: { 'kubernetes.io/config.hash': 'x' } } })], ['update:a']],
    ['deletion', known(a), [pod('a', { metadata: { deletionTimestamp: 't' } })], ['delete:a']],
    [
      'shorter grace',
      known(pod('a', { metadata: { deletionTimestamp: 't', deletionGracePeriodSeconds: 30 } })),
      [pod('a', { metadata: { deletionTimestamp: 't', deletionGracePeriodSeconds: 1 } })],
      ['delete:a'],
    ],
    ['status', known(a), [pod('a', { status: { phase: 'Running' } })], ['reconcile:a']],
    ['spec and status', known(a), [pod('a', { spec: { hostname: 'x' }, status: { phase: 'Running' } })], ['update:a']],
    ['bookkeeping', known(a), [pod('a', { metadata: { resourceVersion: '9' } })], []],
    [
      'order',
      known(pod('s'), pod('d'), pod('u'), pod('r')),
      [
        pod('s', { status: { phase: 'Running' } }),
        pod('d', { metadata: { deletionTimestamp: 't' } }),
        pod('u', { spec: { hostname: 'x' } }),
        pod('n'),
      ],
      ['remove:r', 'add:n', 'update:u', 'delete:d', 'reconcile:s'],
    ],
    ['another name', known(a), [pod('a', { metadata: { name: 'b' } })], ['remove:a', 'add:a']],
    ['same name twice', undefined, [a, pod('b', { metadata: { name: 'a' } })], ['add:a']],
    ['same uid twice', undefined, [a, pod('a', { metadata: { name: 'b' } })], ['add:a']],
    [
      'a new pod with the name of one that is there, before it',
      known(a),
      [pod('b', { metadata: { name: 'a' } }), a],
      [],
    ],
    [
      'a new pod with the uid of one that is there, before it',
      known(a),
      [pod('a', { metadata: { name: 'b' } }), a],
      [],
    ],
    [
      'a copy of one that is there with another spec, before it',
      known(a),
      [pod('a', { spec: { hostname: 'x' } }), a],
      [],
    ],
    [
      'a change of one that is there, behind a new pod with its name',
      known(a),
      [pod('b', { metadata: { name: 'a' } }), pod('a', { spec: { hostname: 'x' } })],
      ['update:a'],
    ],
  ];
  for (const [name, before, set, expected] of cases) {
    assert.deepEqual(reported(computeUpdates(before, 'api', set, 'now').updates), expected, name);
  }
});

test('the source is noted and the first moment stays', () => {
  const first = computeUpdates(undefined, 'api', [a], 'first');
  assert.deepEqual(first.updates[0]?.pods[0]?.metadata.annotations, {
    'kubernetes.io/config.source': 'api',
    'kubernetes.io/config.seen': 'first',
  });
  const later = computeUpdates(first.known, 'api', [pod('a', { spec: { hostname: 'x' } })], 'later');
  assert.equal(later.updates[0]?.pods[0]?.metadata.annotations?.['kubernetes.io/config.seen'], 'first');
  // A static pod is first seen when its manifest is read; what a pod of the API server brings is another agent's time.
  const own = pod('o', { metadata: { annotations: { 'kubernetes.io/config.seen': 'its own' } } });
  const seenAs = (source: PodSource): string | undefined =>
    computeUpdates(undefined, source, [own], 'now').updates[0]?.pods[0]?.metadata.annotations?.[
      'kubernetes.io/config.seen'
    ];
  assert.equal(seenAs('file'), 'its own');
  assert.equal(seenAs('http'), 'its own');
  assert.equal(seenAs('api'), 'now');
});

test('PodSources: ready when every configured source has been read, after its pods were delivered', () => {
  const updates: PodUpdate[] = [];
  const readyAt: boolean[] = [];
  const sources: PodSources = new PodSources({
    recordDuplicate: () => undefined,
    log: new MemoryLog(),
    clock: new FakeClock(),
    configured: ['file', 'api'],
    onUpdate: (update) => {
      updates.push(update);
      readyAt.push(sources.seen(update.source));
    },
  });
  assert.ok(!sources.sourcesReady());
  sources.set('file', []);
  assert.ok(sources.seen('file'));
  assert.ok(!sources.sourcesReady());
  sources.set('api', [a]);
  assert.ok(sources.sourcesReady());
  assert.deepEqual(reported(updates), ['set:', 'add:a']);
  assert.deepEqual(readyAt, [false, false]);
  assert.throws(() => sources.set('http', []), /not configured/);
});

test('a pod that comes with its deletion under way is added, and the one deleted for good is removed', () => {
  const deleted = pod('a', { metadata: { deletionTimestamp: 't', deletionGracePeriodSeconds: 30 } });
  assert.deepEqual(reported(computeUpdates(undefined, 'api', [deleted], 'now').updates), ['add:a']);
  const steps: readonly (readonly [readonly DesiredPod[], readonly string[]])[] = [
    [[a], ['add:a']],
    [[pod('a', { status: { phase: 'Running' } })], ['reconcile:a']],
    // The status may change in the same version: the deletion is what counts.
    [[pod('a', { ...deleted, status: { phase: 'Failed' } })], ['delete:a']],
    [[pod('a', { ...deleted, status: { phase: 'Succeeded' } })], ['reconcile:a']],
    [[pod('a', { ...deleted, spec: { hostname: 'x' }, status: { phase: 'Succeeded' } })], ['delete:a']],
    [[], ['remove:a']],
    [[], []],
  ];
  let before: KnownPods | undefined;
  for (const [set, expected] of steps) {
    const merged = computeUpdates(before, 'api', set, 'now');
    assert.deepEqual(reported(merged.updates), expected);
    before = merged.known;
  }
});

test('what a reconcile or update passes on is the newest version', () => {
  const newer = pod('a', { metadata: { resourceVersion: '9' }, status: { phase: 'Running' } });
  const [update] = computeUpdates(known(a), 'api', [newer], 'now').updates;
  assert.equal(update?.pods[0]?.metadata.resourceVersion, '9');
  assert.equal(update.pods[0].metadata.annotations?.['kubernetes.io/config.seen'], 'first');
});

test('a value that was reported before is not compared again', () => {
  const spec: PodSpec = { containers: [] };
  let reads = 0;
  const watched = desiredPod('api', {
    metadata: { uid: 'w', name: 'w', namespace: 'ns' },
    spec: new Proxy(spec, {
      ownKeys: (target) => {
        reads++;
        return Reflect.ownKeys(target);
      },
    }),
  });
  const first = computeUpdates(undefined, 'api', [watched], 'first');
  reads = 0;
  assert.deepEqual(
    computeUpdates(first.known, 'api', [watched, a], 'now').updates.map(({ op }) => op),
    ['add'],
  );
  assert.equal(reads, 0);
});

test('PodSources: a uid belongs to the source that has it first, and goes to the next when that gives it up', () => {
  const updates: PodUpdate[] = [];
  const log = new MemoryLog();
  const sources = new PodSources({
    recordDuplicate: () => undefined,
    log,
    clock: new FakeClock(),
    configured: ['file', 'api'],
    onUpdate: (update) => updates.push(update),
  });
  sources.set('file', [a]);
  sources.set('api', [a, pod('b')]);
  assert.ok(sources.sourcesReady());
  sources.set('file', [a]);
  assert.equal(log.messages('warn').length, 1);
  sources.set('file', []);
  assert.deepEqual(
    updates.map((update) => `${update.source} ${reported([update])[0]}`),
    ['file add:a', 'api add:b', 'file remove:a', 'api add:a'],
  );
  assert.equal(updates[3]?.pods[0]?.source, 'api');
});

test('PodSources: one full name in two sources is two pods, which take turns', () => {
  const updates: PodUpdate[] = [];
  const sources = new PodSources({
    recordDuplicate: () => undefined,
    log: new MemoryLog(),
    clock: new FakeClock(),
    configured: ['file', 'http'],
    onUpdate: (update) => updates.push(update),
  });
  sources.set('file', [pod('1', { metadata: { name: 'web' } })]);
  sources.set('http', [pod('2', { metadata: { name: 'web' } })]);
  assert.deepEqual(reported(updates), ['add:1', 'add:2']);
});

test('PodSources: a duplicate is reported once while it stays', () => {
  const log = new MemoryLog();
  const reported: string[] = [];
  const sources = new PodSources({
    log,
    clock: new FakeClock(),
    configured: ['file', 'api'],
    onUpdate: () => {},
    recordDuplicate: (_pod, message) => reported.push(message),
  });
  const twin = pod('b', { metadata: { name: 'a' } });
  sources.set('file', [a, twin]);
  sources.set('api', []);
  sources.set('file', [a, twin]);
  assert.deepEqual(reported, ['Error validating pod a_ns(b) from file due to duplicate pod name "a", ignoring']);
  sources.set('file', [a]);
  sources.set('file', [a, twin]);
  assert.equal(reported.length, 2);
  assert.equal(log.messages('warn').length, 2);
});
