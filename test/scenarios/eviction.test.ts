import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import { ignoresTerm } from '../../src/testing/fake-cri/index.ts';
import { aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';
import { ClusterWorld } from '../support/cluster-world.ts';

const decided = { reason: 'Evicted', message: 'The node was low on resource: memory.' };

describe('a pod that is evicted', () => {
  test('stops, fails for the reason given, and does not come back', async () => {
    const it = new AgentWorld();
    const pod = aPod();
    await it.start();
    await it.manifests(pod);
    it.views.pods.terminate(pod.uid, { graceSeconds: 1, decided });
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
    it.views.pods.terminate(next.uid, { graceSeconds: 1, decided });
    await it.clock.advance(120_000);
    assert.equal(it.phase('next'), 'Failed');
    assert.equal(it.status('next')?.reason, 'Evicted');
    assert.deepEqual(it.sandboxes('next'), []);
    await it.stop();
  });

  test('stays evicted when the agent dies before it has remembered that itself', async () => {
    const it = new ClusterWorld();
    await it.start();
    const uid = it.bind('web');
    await it.clock.advance(5_000);
    assert.equal(it.phase('web'), 'Running');
    await it.stop();
    // The checkpoint is of before, the API server has heard of the end.
    it.api.objects.edit<Pod>(apiResources.pods, { namespace: 'default', name: 'web' }, (pod) => ({
      ...pod,
      status: { ...pod.status, phase: 'Failed', ...decided },
    }));
    it.api.forgetRequests();
    await it.start();
    await it.clock.advance(60_000);
    const written = it.api.requests({ resource: 'pods', subresource: 'status' }).map(({ body }) => body as Pod);
    const phases = [...written, it.pod('web')].flatMap((pod) => pod?.status?.phase ?? []);
    assert.deepEqual(new Set(phases), new Set(['Failed']));
    assert.equal(it.pod('web')?.status?.reason, 'Evicted');
    assert.deepEqual(it.containersOf(uid), ['main#0 exited']);
    await it.stop();
  });
});
