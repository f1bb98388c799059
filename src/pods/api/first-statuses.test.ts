import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import { aPod } from '../../testing/pods.ts';
import { PodStatuses } from '../status/index.ts';
import { FirstStatuses } from './first-statuses.ts';

const withContainers = (reason: string): PodStatus => ({
  phase: 'Running',
  reason,
  containerStatuses: [{ name: 'main', ready: true, restartCount: 0, image: 'i', imageID: '' }],
});
const [known, fresh] = [aPod({ uid: 'known' }), aPod({ uid: 'fresh' })];

function setUp(mirrored: PodStatus, isAbsent = false) {
  const statuses = new PodStatuses();
  statuses.restore([
    [known.uid, withContainers('checkpoint')],
    [fresh.uid, withContainers('checkpoint')],
  ]);
  const first = new FirstStatuses({
    desired: { has: (uid) => uid === known.uid },
    statuses,
    mirrors: { of: () => ({ status: mirrored }) },
    isAbsent: () => isAbsent,
    runs: () => false,
  });
  return { statuses, first };
}

test('a static pod begins with what its mirror pod shows, unless it is known already', () => {
  const { statuses, first } = setUp(withContainers('mirror'));
  first.applyToStaticPods('file', [known, fresh]);
  assert.equal(statuses.get(podUid('known'))?.reason, 'checkpoint');
  assert.equal(statuses.get(podUid('fresh'))?.reason, 'mirror');
});

test('a static pod that is named after the first set of its source does not begin with its mirror pod', () => {
  const { statuses, first } = setUp(withContainers('mirror'));
  first.applyToStaticPods('file', []);
  first.applyToStaticPods('file', [fresh]);
  assert.equal(statuses.get(fresh.uid)?.reason, 'checkpoint');
  first.applyToStaticPods('http', [fresh]);
  assert.equal(statuses.get(fresh.uid)?.reason, 'mirror');
});

test('if the runtime has nothing of it either, the checkpoint shows a life that has ended', () => {
  const { statuses, first } = setUp(withContainers('mirror'), true);
  first.applyToStaticPods('file', []);
  first.applyToStaticPods('file', [known, fresh]);
  assert.equal(statuses.get(fresh.uid), undefined);
  assert.equal(statuses.get(known.uid)?.reason, 'checkpoint');
});

test('in the first set of its source a pod keeps its past, though the runtime has nothing of it', () => {
  const { statuses, first } = setUp({ phase: 'Pending' }, true);
  first.applyToStaticPods('file', [fresh]);
  assert.equal(statuses.get(fresh.uid)?.reason, 'checkpoint');
});

test('a mirror pod that shows no containers leaves the checkpoint in force', () => {
  const { statuses, first } = setUp({ phase: 'Pending' });
  first.applyToStaticPods('file', [fresh]);
  assert.equal(statuses.get(fresh.uid)?.reason, 'checkpoint');
});

test('a pod of the API server that shows containers makes the checkpoint void', () => {
  const { statuses, first } = setUp({});
  const shown = aPod({ uid: 'fresh', source: 'api', status: withContainers('api') });
  first.applyToApiPods([known, shown, aPod({ uid: 'other', source: 'api' })]);
  assert.equal(statuses.get(known.uid)?.reason, 'checkpoint');
  assert.equal(statuses.get(fresh.uid), undefined);
});
