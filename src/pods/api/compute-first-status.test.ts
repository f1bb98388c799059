import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import { computeFirstStatus } from './compute-first-status.ts';

const shown: PodStatus = {
  phase: 'Running',
  containerStatuses: [{ name: 'main', ready: true, restartCount: 0, image: 'i', imageID: '' }],
};

test('which status a pod begins with', () => {
  const cases = [
    ['nothing reported', false, undefined, 'checkpoint'],
    ['a status without containers', false, { phase: 'Pending' }, 'checkpoint'],
    ['a status with an empty list of containers', false, { phase: 'Pending', containerStatuses: [] }, 'checkpoint'],
    ['a status with containers', false, shown, 'reported'],
    ['a pod that is known already', true, shown, 'own'],
    ['a pod that is known already, and not reported', true, undefined, 'own'],
  ] as const;
  for (const [what, isDesired, reported, use] of cases) {
    assert.equal(computeFirstStatus({ isDesired, reported }).use, use, what);
  }
  assert.deepEqual(computeFirstStatus({ isDesired: false, reported: shown }), {
    use: 'reported',
    reason: 'newer than a checkpoint',
    status: shown,
  });
});
