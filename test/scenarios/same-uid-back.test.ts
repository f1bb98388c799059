import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DesiredPod } from '../../src/model/desired-pod.ts';
import { exitAfter, ignoresTerm } from '../../src/testing/fake-cri/index.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';

/** A manifest that is taken away and put back is the same file: its pod has the same uid, and is to run anew. */
describe('a pod whose manifest goes and comes back', () => {
  for (const restartPolicy of ['Always', 'OnFailure', 'Never']) {
    test(`runs again: ${restartPolicy}`, async () => {
      const it = new AgentWorld();
      const pod = aPod({ spec: { restartPolicy } });
      await it.start();
      await it.manifests(pod);
      assert.deepEqual(it.containers(), ['main#0 running']);
      await it.manifests();
      await it.manifests(pod);
      await it.clock.advance(2_000);
      assert.deepEqual(it.containers(), ['main#0 running']);
      assert.deepEqual(it.sandboxes(), ['#0 ready']);
      assert.equal(it.phase(), 'Running');
      await it.stop();
    });
  }

  for (const restartPolicy of ['Always', 'OnFailure', 'Never']) {
    test(`at once, runs again: ${restartPolicy}`, async () => {
      const it = new AgentWorld();
      const pod = aPod({ spec: { restartPolicy } });
      await it.start();
      await it.manifests(pod);
      await it.writtenAnew(pod);
      await it.clock.advance(2_000);
      // What starts again after any end goes on counting; what runs once begins from nothing, or it could not run.
      const isCounted = restartPolicy === 'Always';
      assert.deepEqual(it.containers(), isCounted ? ['main#0 exited', 'main#1 running'] : ['main#0 running']);
      assert.equal(it.sandboxes().at(-1), isCounted ? '#1 ready' : '#0 ready');
      assert.equal(it.phase(), 'Running');
      const [main] = it.lastStatus().containerStatuses ?? [];
      assert.equal(main?.restartCount, isCounted ? 1 : 0);
      assert.equal(main?.lastState?.terminated !== undefined, isCounted);
      await it.manifests();
      await it.clock.advance(40_000);
      assert.deepEqual([...it.containers(), ...it.sandboxes()], []);
      await it.stop();
    });
  }

  test('at once, runs its init containers again before the regular ones', async () => {
    const it = new AgentWorld();
    it.cri.programs.forContainer('first', exitAfter(100, 0), exitAfter(100, 0));
    const pod = aPod({ spec: { initContainers: [aContainer('first')] } });
    await it.start();
    await it.manifests(pod);
    await it.clock.advance(1_000);
    await it.writtenAnew(pod);
    await it.clock.advance(2_000);
    const second = it.containers().filter((container) => container.includes('#1'));
    assert.deepEqual(second, ['first#1 exited', 'main#1 running']);
    await it.stop();
  });

  test('runs again although it had succeeded', async () => {
    const it = new AgentWorld();
    it.cri.programs.forContainer('main', exitAfter(100, 0), {});
    const pod = aPod({ spec: { restartPolicy: 'Never' } });
    await it.start();
    await it.manifests(pod);
    await it.clock.advance(5_000);
    assert.equal(it.phase(), 'Succeeded');
    await it.manifests();
    await it.manifests(pod);
    await it.clock.advance(2_000);
    assert.equal(it.phase(), 'Running');
    await it.stop();
  });

  test('begins anew only when nothing is left of its former life', async () => {
    const it = new AgentWorld();
    const pod = aPod();
    await it.start();
    await it.manifests(pod);
    it.cri.faults.delay('removePodSandbox', 3_000);
    await it.manifests();
    await it.manifests(pod);
    await it.clock.advance(2_900);
    assert.deepEqual(it.sandboxes(), ['#0 notReady']);
    await it.clock.advance(200);
    assert.deepEqual(it.sandboxes(), ['#0 ready']);
    assert.ok(it.files.tree('/var/lib/kubelet/pods/uid-1').includes('644 etc-hosts'));
    await it.stop();
  });

  test('passes admission anew, and is counted there', async () => {
    const it = new AgentWorld();
    const greedy = (name: string): DesiredPod =>
      aPod({
        name,
        uid: `uid-${name}`,
        spec: { containers: [aContainer('main', { resources: { requests: { cpu: '3' } } })] },
      });
    await it.start();
    await it.manifests(greedy('a'));
    await it.manifests();
    await it.manifests(greedy('a'));
    await it.clock.advance(2_000);
    await it.manifests(greedy('a'), greedy('b'));
    await it.clock.advance(2_000);
    assert.equal(it.phase('uid-a'), 'Running');
    assert.equal(it.phase('uid-b'), 'Failed');

    it.cri.programs.forContainer('main', ignoresTerm());
    await it.manifests(greedy('b'), greedy('c'));
    await it.clock.advance(60_000);
    assert.equal(it.phase('uid-c'), 'Running');
    await it.manifests(greedy('b'));
    await it.manifests(greedy('b'), greedy('d'));
    await it.manifests(greedy('b'), greedy('c'), greedy('d'));
    await it.clock.advance(60_000);
    assert.deepEqual(new Set(['c', 'd'].map((name) => it.phase(`uid-${name}`))), new Set(['Failed', 'Running']));
    await it.stop();
  });

  test('another pod that cannot be removed does not hold it up', async () => {
    const it = new AgentWorld();
    const [pod, stuck] = [aPod(), aPod({ name: 'stuck', uid: 'uid-2' })];
    await it.start();
    await it.manifests(stuck, pod);
    it.cri.faults.hang('removePodSandbox', { times: 1 });
    await it.manifests(pod);
    await it.manifests();
    await it.manifests(pod);
    await it.clock.advance(2_000);
    assert.deepEqual(it.sandboxes('uid-2'), ['#0 notReady']);
    assert.deepEqual(it.sandboxes(), ['#0 ready']);
    await it.stop();
  });
});
