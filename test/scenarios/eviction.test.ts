import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ignoresTerm } from '../../src/testing/fake-cri/index.ts';
import { aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';

const decided = { reason: 'Evicted', message: 'The node was low on resource: memory.' };

describe('a pod that is evicted', () => {
  test('stops, fails for the reason given, and does not come back', async () => {
    const it = new AgentWorld();
    const pod = aPod();
    await it.start();
    await it.manifests(pod);
    it.machine.views.terminate(pod.uid, { graceSeconds: 1, decided });
    await it.clock.advance(120_000);
    const { phase, reason, message } = it.status('uid-1') ?? {};
    assert.deepEqual({ phase, reason, message }, { phase: 'Failed', ...decided });
    assert.deepEqual(it.containers(), ['main#0 exited']);
    await it.stop();
  });

  test('while it waits for its namesake to end says so too', async () => {
    const it = new AgentWorld();
    it.cri.programs.forContainer('main', ignoresTerm());
    const [old, next] = [aPod({ uid: 'old' }), aPod({ uid: 'next' })];
    await it.start();
    await it.manifests(old);
    await it.manifests(next);
    it.machine.views.terminate(next.uid, { graceSeconds: 1, decided });
    await it.clock.advance(120_000);
    assert.equal(it.phase('next'), 'Failed');
    assert.equal(it.status('next')?.reason, 'Evicted');
    assert.deepEqual(it.sandboxes('next'), []);
    await it.stop();
  });

  test('stays evicted when the agent dies before it has remembered that itself', async () => {
    const it = new AgentWorld({ source: 'api' });
    const pod = aPod({ source: 'api' });
    await it.start();
    await it.manifests(pod);
    await it.stop();
    // The checkpoint is of before, the API server has heard of the end.
    const status = { ...it.lastStatus(), phase: 'Failed', ...decided };
    await it.manifests(aPod({ source: 'api', status }));
    it.statusHistory.clear();
    await it.start();
    await it.clock.advance(60_000);
    const told = it.statusHistory.get('uid-1')?.map(({ phase, reason }) => `${phase} ${reason}`);
    assert.deepEqual(new Set(told), new Set(['Failed Evicted']));
    assert.deepEqual(it.containers(), ['main#0 exited']);
    await it.stop();
  });
});
