import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectMeta, PodSpec, PodStatus } from '../../gen/kubernetes/types.ts';
import { desiredPod, type DesiredPod } from '../../model/desired-pod.ts';
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
const told = (updates: readonly PodUpdate[]): string[] =>
  updates.map(({ op, pods }) => `${op}:${pods.map((one) => one.uid).join(',')}`);
const known = (...pods: readonly DesiredPod[]): KnownPods => computeUpdates(undefined, 'api', pods, 'first').known;

const a = pod('a');
test('what a set changes', () => {
  const cases: readonly (readonly [string, KnownPods | undefined, readonly DesiredPod[], readonly string[]])[] = [
    ['first and empty', undefined, [], ['set:']],
    ['first', undefined, [a, pod('b')], ['add:a,b']],
    ['empty again', known(), [], []],
    ['nothing new', known(a), [pod('a')], []],
    ['gone', known(a), [], ['remove:a']],
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
  ];
  for (const [name, before, set, expected] of cases) {
    assert.deepEqual(told(computeUpdates(before, 'api', set, 'now').updates), expected, name);
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
  const own = pod('o', { metadata: { annotations: { 'kubernetes.io/config.seen': 'its own' } } });
  const brought = computeUpdates(undefined, 'api', [own], 'now').updates[0]?.pods[0];
  assert.equal(brought?.metadata.annotations?.['kubernetes.io/config.seen'], 'its own');
});

test('PodSources: ready when every configured source has spoken, after its pods were delivered', () => {
  const updates: PodUpdate[] = [];
  const readyAt: boolean[] = [];
  const sources: PodSources = new PodSources({
    log: new MemoryLog(),
    clock: new FakeClock(),
    configured: ['file', 'api'],
    onUpdate: (update) => {
      updates.push(update);
      readyAt.push(sources.seen(update.source));
    },
  });
  assert.ok(!sources.allReady());
  sources.set('file', []);
  assert.ok(sources.seen('file'));
  assert.ok(!sources.allReady());
  sources.set('api', [a]);
  assert.ok(sources.allReady());
  assert.deepEqual(told(updates), ['set:', 'add:a']);
  assert.deepEqual(readyAt, [false, false]);
  assert.throws(() => sources.set('http', []), /not configured/);
});

test('PodSources: the same uid in two sources is two pods', () => {
  const updates: PodUpdate[] = [];
  const sources = new PodSources({
    log: new MemoryLog(),
    clock: new FakeClock(),
    configured: ['file', 'api'],
    onUpdate: (update) => updates.push(update),
  });
  sources.set('file', [a]);
  sources.set('api', [a]);
  sources.set('file', []);
  assert.deepEqual(
    updates.map((update) => `${update.source} ${told([update])[0]}`),
    ['file add:a', 'api add:a', 'file remove:a'],
  );
});

test('PodSources: a duplicate is reported once while it stays', () => {
  const log = new MemoryLog();
  const reported: string[] = [];
  const sources = new PodSources({
    log,
    clock: new FakeClock(),
    configured: ['file'],
    onUpdate: () => {},
    recordDuplicate: (_pod, message) => reported.push(message),
  });
  const twin = pod('b', { metadata: { name: 'a' } });
  sources.set('file', [a, twin]);
  sources.set('file', [a, twin]);
  assert.deepEqual(reported, ['Error validating pod a_ns(b) from file due to duplicate pod name "a", ignoring']);
  sources.set('file', [a]);
  sources.set('file', [a, twin]);
  assert.equal(reported.length, 2);
  assert.equal(log.messages('warn').length, 2);
});
