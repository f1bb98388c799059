import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aPod } from '../../src/testing/pods.ts';
import { exitAfter } from '../../src/testing/fake-cri/index.ts';
import { AgentWorld } from '../support/agent-world.ts';

describe('restarting the agent', () => {
  test('disturbs no running pod', async () => {
    const it = new AgentWorld();
    await it.start();
    await it.manifests(aPod());
    const before = it.verbs();
    for (let round = 0; round < 5; round++) {
      await it.stop();
      await it.clock.advance(3_000);
      await it.start();
      await it.clock.advance(5_000);
    }
    assert.deepEqual(it.verbs(), before);
    assert.deepEqual(it.containers(), ['main#0 running']);
    assert.equal(it.isReady(), true);
    await it.stop();
  });

  test('a pod whose manifest went meanwhile is stopped and removed', async () => {
    const it = new AgentWorld();
    await it.start();
    await it.manifests(aPod());
    await it.stop();
    await it.manifests();
    await it.start();
    await it.clock.advance(3_000);
    assert.deepEqual(it.sandboxes(), []);
    assert.deepEqual(it.files.tree('/var/lib/kubelet/pods'), []);
    await it.stop();
  });

  test('a pod that went without a trace meanwhile is not remembered either', async () => {
    const it = new AgentWorld();
    await it.start();
    await it.manifests(aPod());
    await it.stop();
    await it.manifests();
    for (const id of it.cri.state.sandboxes.keys()) await it.cri.removePodSandbox({ podSandboxId: id });
    for (const path of ['/var/lib/kubelet/pods/uid-1', '/var/log/pods']) await it.files.removeTree(path);
    await it.start();
    await it.clock.advance(1_000);
    assert.deepEqual([...it.views.stores.statuses.all().keys()], []);
    await it.stop();
  });

  test('nothing is cleaned up before the sources have spoken', async () => {
    const it = new AgentWorld();
    await it.start();
    await it.manifests(aPod());
    await it.stop();
    await it.manifests();
    it.machine.manifests.broken.set('readdir /m', 'input/output error');
    await it.start();
    await it.clock.advance(300_000);
    assert.deepEqual(it.containers(), ['main#0 running']);
    it.machine.manifests.broken.clear();
    await it.clock.advance(23_000);
    assert.deepEqual(it.containers(), []);
    await it.stop();
  });

  test('a pod that succeeded does not run again', async () => {
    const it = new AgentWorld();
    it.cri.programs.forContainer('main', exitAfter(100, 0));
    await it.start();
    await it.manifests(aPod({ spec: { restartPolicy: 'Never' } }));
    await it.clock.advance(2_000);
    assert.equal(it.phase(), 'Succeeded');
    await it.stop();
    await it.start();
    await it.clock.advance(2_000);
    assert.equal(it.phase(), 'Succeeded');
    assert.equal(it.verbs().filter((verb) => verb === 'startContainer').length, 1);
    await it.stop();
  });

  test('a container that was made but never started is replaced under the same count', async () => {
    const it = new AgentWorld();
    it.cri.faults.hang('startContainer', { times: 1 });
    await it.start();
    await it.manifests(aPod());
    await it.stop();
    assert.deepEqual(it.containers(), ['main#0 created']);
    await it.start();
    await it.clock.advance(100);
    assert.deepEqual(it.containers(), ['main#0 running']);
    assert.equal(it.status('uid-1')?.containerStatuses?.[0]?.restartCount, 0);
    await it.stop();
  });
});
