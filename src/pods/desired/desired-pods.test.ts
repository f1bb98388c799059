import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podFullName, podUid } from '../../base/ids.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { PodUpdateOp } from '../../model/pod-update.ts';
import { aPod } from '../../testing/pods.ts';
import { DesiredPods } from './desired-pods.ts';

const web = aPod();
const db = aPod({ uid: 'uid-2', name: 'db' });

const apply = (desired: DesiredPods, op: PodUpdateOp, ...pods: DesiredPod[]): void =>
  desired.apply({ op, source: 'file', pods });

test('a pod is desired from its ADD until its REMOVE', () => {
  const desired = new DesiredPods();
  assert.equal(desired.has(web.uid), false);
  apply(desired, 'add', web, db);
  assert.deepEqual(desired.all(), [web, db]);
  apply(desired, 'remove', web);
  assert.deepEqual(desired.all(), [db]);
  assert.equal(desired.get(web.uid), undefined);
  assert.equal(desired.has(web.uid), false);
});

test('the newest update of a pod counts, whatever its operation', () => {
  for (const op of ['add', 'update', 'reconcile', 'delete'] as const) {
    const desired = new DesiredPods();
    apply(desired, 'add', web);
    const newer = aPod({ metadata: { labels: { v: '2' } } });
    apply(desired, op, newer);
    assert.equal(desired.get(web.uid), newer, op);
    assert.equal(desired.all().length, 1);
  }
});

test('a pod that is being deleted stays until its source removes it', () => {
  const desired = new DesiredPods();
  apply(desired, 'add', web);
  apply(desired, 'delete', aPod({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }));
  assert.equal(desired.has(web.uid), true);
  apply(desired, 'remove', web);
  assert.equal(desired.has(web.uid), false);
});

test('an update without pods changes nothing', () => {
  const desired = new DesiredPods();
  apply(desired, 'add', web);
  apply(desired, 'set');
  assert.deepEqual(desired.all(), [web]);
});

test('pods of one full name are found together', () => {
  const desired = new DesiredPods();
  const changed = aPod({ uid: 'uid-3' });
  apply(desired, 'add', web, db, changed);
  assert.deepEqual(desired.named(podFullName('web', 'default')), [web, changed]);
  assert.deepEqual(desired.named(podFullName('web', 'other')), []);
});

test('removing what is not there is fine', () => {
  const desired = new DesiredPods();
  apply(desired, 'remove', web);
  assert.equal(desired.get(podUid('uid-1')), undefined);
});
