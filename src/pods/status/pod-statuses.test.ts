import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import { PodStatuses } from './pod-statuses.ts';

const [a, b] = [podUid('a'), podUid('b')];

function setUp(): { statuses: PodStatuses; changes: string[] } {
  const changes: string[] = [];
  return { statuses: new PodStatuses((uid, { phase }) => void changes.push(`${uid} ${phase}`)), changes };
}

test('keeps the newest status of each pod', () => {
  const { statuses } = setUp();
  assert.equal(statuses.get(a), undefined);
  statuses.set(a, { phase: 'Pending' });
  statuses.set(b, { phase: 'Failed' });
  statuses.set(a, { phase: 'Running' });
  assert.deepEqual([statuses.get(a)?.phase, statuses.get(b)?.phase], ['Running', 'Failed']);
});

test('the listener is called for changes only, and the version grows with each', () => {
  const { statuses, changes } = setUp();
  const status = (ready: boolean): PodStatus => ({
    phase: 'Running',
    containerStatuses: [{ name: 'main', ready, restartCount: 0, image: 'i', imageID: '' }],
  });
  assert.equal(statuses.versionOf(a), 0);
  assert.equal(statuses.set(a, status(false)), true);
  assert.equal(statuses.set(a, status(false)), false, 'an equal copy is nothing new');
  assert.equal(statuses.versionOf(a), 1);
  assert.equal(statuses.set(a, status(true)), true, 'a difference deep inside is');
  assert.equal(statuses.versionOf(a), 2);
  assert.deepEqual(changes, ['a Running', 'a Running']);
});

test('the listener finds the new status in place', () => {
  let seen: PodStatus | undefined;
  const statuses: PodStatuses = new PodStatuses((uid) => {
    seen = statuses.get(uid);
  });
  statuses.set(a, { phase: 'Pending' });
  assert.deepEqual(seen, { phase: 'Pending' });
});

test('a pod that was removed is forgotten without a change', () => {
  const { statuses, changes } = setUp();
  statuses.set(a, { phase: 'Failed' });
  statuses.forget(a);
  statuses.forget(b);
  assert.deepEqual([statuses.get(a), statuses.versionOf(a), changes.length], [undefined, 0, 1]);
});

test('a restored status gives way to that of the server, until a new one was generated', () => {
  const statuses = new PodStatuses();
  statuses.restore([[a, { phase: 'Running' }]]);
  statuses.dropRestored(a);
  assert.equal(statuses.get(a), undefined);
  statuses.restore([[a, { phase: 'Running' }]]);
  statuses.set(a, { phase: 'Failed' });
  statuses.dropRestored(a);
  assert.equal(statuses.get(a)?.phase, 'Failed');
});
