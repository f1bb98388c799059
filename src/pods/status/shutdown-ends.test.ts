import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import { aPod } from '../../testing/pods.ts';
import { PodStatuses } from './pod-statuses.ts';
import { ShutdownEnds } from './shutdown-ends.ts';

const ended: PodStatus = {
  phase: 'Failed',
  reason: 'Terminated',
  message: 'Pod was terminated in response to imminent node shutdown.',
};
const table: readonly (readonly [
  what: string,
  source: 'file' | 'api',
  status: PodStatus,
  shuttingDown: boolean,
  begins: 'anew' | 'ended',
])[] = [
  ['a static pod that the shutdown ended', 'file', ended, false, 'anew'],
  ['while the shutdown is under way', 'file', ended, true, 'ended'],
  ['a pod of the API server', 'api', ended, false, 'ended'],
  ['one that failed otherwise', 'file', { phase: 'Failed', reason: 'DeadlineExceeded' }, false, 'ended'],
  ['one whose words are another’s', 'file', { ...ended, message: 'by hand' }, false, 'ended'],
];

for (const [what, source, status, shuttingDown, begins] of table) {
  test(`after a restart of the agent: ${what}`, () => {
    const statuses = new PodStatuses();
    const pod = aPod({ source });
    statuses.restore([[pod.uid, status]]);
    new ShutdownEnds({ statuses, shuttingDown: () => shuttingDown }).forget([pod]);
    assert.equal(statuses.get(pod.uid) === undefined ? 'anew' : 'ended', begins);
  });
}

test('what this run of the agent ended stays ended', () => {
  const statuses = new PodStatuses();
  const pod = aPod();
  statuses.set(pod.uid, ended);
  new ShutdownEnds({ statuses, shuttingDown: () => false }).forget([pod]);
  assert.equal(statuses.get(pod.uid), ended);
});
