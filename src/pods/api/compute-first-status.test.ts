import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import { computeFirstStatus } from './compute-first-status.ts';

const shown: PodStatus = {
  phase: 'Running',
  containerStatuses: [{ name: 'main', ready: true, restartCount: 0, image: 'i', imageID: '' }],
};

const at = (state: object): PodStatus => ({
  phase: 'Running',
  containerStatuses: [{ name: 'main', ready: true, restartCount: 0, image: 'i', imageID: '', state }],
});

test('a shutdown that the API server has not heard of', () => {
  const shutdownEnd = at({ terminated: { exitCode: 143, finishedAt: '2026-01-01T10:00:00Z' } });
  const cases = [
    ['it shows the container as it ran', { running: { startedAt: '2026-01-01T09:00:00Z' } }, 'checkpoint'],
    ['it shows one that another agent started since', { running: { startedAt: '2026-01-01T11:00:00Z' } }, 'reported'],
    ['that one has ended', { terminated: { exitCode: 0, startedAt: '2026-01-01T11:00:00Z' } }, 'reported'],
    ['it shows none that started', { waiting: { reason: 'ContainerCreating' } }, 'checkpoint'],
  ] as const;
  for (const [what, state, use] of cases) {
    assert.equal(computeFirstStatus({ isDesired: false, reported: at(state), shutdownEnd }).use, use, what);
  }
  const untimed = at({ terminated: { exitCode: 137 } });
  const running = at({ running: { startedAt: '2026-01-01T09:00:00Z' } });
  assert.equal(computeFirstStatus({ isDesired: false, reported: running, shutdownEnd: untimed }).use, 'reported');
});

test('a life of a static pod that the API server has not heard of', () => {
  const since = (startTime?: string): PodStatus => ({ ...shown, ...(startTime !== undefined && { startTime }) });
  const [before, after] = [since('2026-01-01T09:00:00Z'), since('2026-01-01T09:00:01Z')];
  const cases = [
    ['the checkpoint is of a later life', after, before, 'checkpoint'],
    ['both are of one life', before, before, 'reported'],
    ['another agent began a life since', before, after, 'reported'],
    ['the checkpoint has no time', since(), before, 'reported'],
    ['the API server shows no time', after, since(), 'reported'],
    ['there is no checkpoint', undefined, before, 'reported'],
  ] as const;
  for (const [what, checkpoint, reported, use] of cases) {
    assert.equal(computeFirstStatus({ isDesired: false, reported, checkpoint }).use, use, what);
  }
});

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
