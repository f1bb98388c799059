import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { podUid } from '../base/ids.ts';
import { silentLog } from '../base/log.ts';
import { decisionKinds, type Decision, type DecisionKind } from '../model/decisions.ts';
import { PodRemoval } from '../model/pod-removal.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { FlightRecorder } from './flight-recorder.ts';
import type { RecorderLimits } from './recorder-limits.ts';

const uid = podUid('uid-1');
const decided = (kind: DecisionKind, reason: string, more: Partial<Decision> = {}): Decision => ({
  kind,
  by: 'pod-worker',
  reason,
  message: '',
  ...more,
});

function setUp(limits: Partial<RecorderLimits> = {}) {
  const clock = new FakeClock();
  const removal = new PodRemoval(silentLog);
  const recorder = new FlightRecorder({ clock, removal, limits });
  const reasons = (of: string = uid): string[] | undefined =>
    recorder.podPage(of)?.decisions.map(({ reason }) => reason);
  return { clock, removal, recorder, reasons };
}

test('a page has who the pod is, what was decided, from what, and when it is tried next', async () => {
  const { clock, recorder } = setUp();
  const pod = { uid, namespace: 'default', name: 'web' };
  recorder.pod(pod, decided('admit', 'Admitted', { by: 'admission', message: 'it may run here' }));
  await clock.advance(1_000);
  const inputs = { exitCode: 1 };
  const message = 'back-off 10s restarting failed container';
  recorder.pod(
    pod,
    decided('backOff', 'CrashLoopBackOff', { message, containerName: 'main', inputs, nextTryInMs: 10_000 }),
  );
  const time = (ms: number): string => new Date(clock.now() + ms).toISOString();
  assert.deepEqual(recorder.podPage(uid), {
    uid,
    namespace: 'default',
    name: 'web',
    last: { kind: 'backOff', reason: 'CrashLoopBackOff', lastTime: time(0) },
    droppedDecisions: 0,
    decisions: [
      {
        kind: 'admit',
        by: 'admission',
        reason: 'Admitted',
        message: 'it may run here',
        count: 1,
        firstTime: time(-1_000),
        lastTime: time(-1_000),
      },
      {
        kind: 'backOff',
        by: 'pod-worker',
        reason: 'CrashLoopBackOff',
        message,
        containerName: 'main',
        inputs,
        count: 1,
        firstTime: time(0),
        lastTime: time(0),
        nextTryTime: time(10_000),
      },
    ],
  });
});

test('a pod that was removed can still be read, with what is decided about it afterwards', () => {
  const { recorder, removal, reasons } = setUp();
  recorder.pod({ uid, name: 'web' }, decided('admit', 'Admitted'));
  removal.podRemoved(uid);
  recorder.pod({ uid }, decided('remove', 'Removed'));
  assert.deepEqual(reasons(), ['Admitted', 'Removed']);
  assert.equal(recorder.podPage(uid)?.name, 'web');
  assert.notEqual(recorder.podPage(uid)?.removedTime, undefined);
  assert.deepEqual([...removal.sizes()], [['flight-recorder', 0]]);
});

test('a pod that comes back under its uid is here again, and keeps its history', () => {
  const { recorder, removal, reasons } = setUp();
  recorder.pod({ uid }, decided('admit', 'Admitted'));
  removal.podRemoved(uid);
  recorder.pod({ uid }, decided('admit', 'Again'));
  recorder.pod({ uid }, decided('start', 'Started'));
  assert.deepEqual(reasons(), ['Admitted', 'Again', 'Started']);
  assert.equal(recorder.podPage(uid)?.removedTime, undefined);
  assert.deepEqual([...removal.sizes()], [['flight-recorder', 1]]);
});

test('of the removed pods those that were removed last stay', () => {
  const { recorder, removal } = setUp({ removedPods: 2 });
  for (const name of ['a', 'b', 'c']) {
    recorder.pod({ uid: podUid(name) }, decided('admit', 'Admitted'));
    removal.podRemoved(podUid(name));
  }
  assert.deepEqual(
    recorder.pods().map((pod) => pod.uid),
    ['b', 'c'],
  );
  assert.equal(recorder.podPage('a'), undefined);
});

test('of too many pods the one goes that was not heard of for longest', () => {
  const { recorder } = setUp({ pods: 2 });
  for (const name of ['a', 'b', 'a', 'c']) recorder.pod({ uid: podUid(name) }, decided('retry', 'SyncFailed'));
  assert.deepEqual(
    recorder.pods().map((pod) => pod.uid),
    ['a', 'c'],
  );
});

test('the node has decisions of its own', () => {
  const { recorder } = setUp();
  recorder.node(decided('evict', 'DiskPressure', { inputs: { ranking: [{ pod: 'default/web', usage: '3Gi' }] } }));
  const [decision] = recorder.nodePage().decisions;
  assert.equal(decision?.reason, 'DiskPressure');
  assert.deepEqual(decision?.inputs, { ranking: [{ pod: 'default/web', usage: '3Gi' }] });
  assert.deepEqual(recorder.pods(), []);
});

test('a pod that nothing was decided about has no page, and its removal leaves none', () => {
  const { recorder, removal } = setUp();
  removal.podRemoved(uid);
  assert.equal(recorder.podPage(uid), undefined);
  assert.equal(recorder.podPage('constructor'), undefined);
});

test('the glossary explains every kind of decision', () => {
  const glossary = readFileSync('docs/glossary.md', 'utf8');
  const [, kinds = ''] = glossary.split('## Kinds of decisions');
  const explained = [...kinds.matchAll(/^\| ([\w, ]+)\|/gm)].flatMap(([, words = '']) => words.trim().split(', '));
  assert.deepEqual(
    decisionKinds.filter((kind) => !explained.includes(kind)),
    [],
  );
});
