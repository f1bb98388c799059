import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { configAnnotations } from '../../src/model/annotations.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import { exitAfter, stopsSlowly } from '../../src/testing/fake-cri/index.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { aStaticPod, ClusterWorld } from '../support/cluster-world.ts';

const mirror = 'static-node-1';
const pod = aStaticPod('static');
const changed = aStaticPod('static', { containers: [aContainer('main', { args: ['--more'] })] });

async function started(options: ConstructorParameters<typeof ClusterWorld>[0] = {}): Promise<ClusterWorld> {
  const it = new ClusterWorld(options);
  await it.start();
  return it;
}
const uidOf = (object: Pod | undefined): string => object?.metadata?.uid ?? '';
const hashOf = (object: Pod | undefined): string => object?.metadata?.annotations?.[configAnnotations.mirror] ?? '';

describe('a static pod in a cluster', () => {
  test('is shown, with its status, and goes with its manifest when it has ended', async () => {
    const it = await started();
    it.cri.programs.otherwise(() => stopsSlowly(5_000));
    await it.manifests(pod);
    await it.clock.advance(2_000);
    assert.deepEqual([it.phase(mirror), it.isReady(mirror), hashOf(it.pod(mirror))], ['Running', true, pod.uid]);
    await it.manifests();
    await it.clock.advance(3_000);
    assert.equal(it.phase(mirror), 'Running', 'it is shown to the last');
    await it.clock.advance(10_000);
    assert.equal(it.pod(mirror), undefined);
    assert.deepEqual(it.containers(mirror), []);
    assert.deepEqual(
      it.writes().filter((write) => write.startsWith('create')),
      [`create ${mirror}`],
    );
    await it.stop();
  });

  test('runs on when somebody deletes what shows it, and is shown again', async () => {
    const it = await started();
    await it.manifests(pod);
    await it.clock.advance(2_000);
    const first = uidOf(it.pod(mirror));
    it.delete(mirror);
    await it.clock.advance(5_000);
    const second = uidOf(it.pod(mirror));
    it.delete(mirror, 0);
    await it.clock.advance(5_000);
    const third = uidOf(it.pod(mirror));
    assert.equal(new Set([first, second, third]).size, 3);
    assert.deepEqual([it.phase(mirror), it.isReady(mirror)], ['Running', true]);
    assert.deepEqual(it.containers(mirror), ['main#0 running']);
    await it.stop();
  });

  test('that changes is shown as what it is now, after what it was has ended', async () => {
    const it = await started();
    it.cri.programs.otherwise(() => stopsSlowly(5_000));
    await it.manifests(pod);
    await it.clock.advance(2_000);
    await it.manifests(changed);
    await it.clock.advance(2_000);
    assert.deepEqual([hashOf(it.pod(mirror)), it.phase(mirror)], [pod.uid, 'Running']);
    await it.clock.advance(10_000);
    assert.deepEqual([hashOf(it.pod(mirror)), it.phase(mirror), it.isReady(mirror)], [changed.uid, 'Running', true]);
    assert.deepEqual([it.containersOf(pod.uid), it.containersOf(changed.uid)], [[], ['main#0 running']]);
    await it.stop();
  });

  test('that comes back before its former life has ended is shown anew, and outlives its agent', async () => {
    const it = await started();
    it.cri.programs.otherwise(() => stopsSlowly(5_000));
    await it.manifests(pod);
    await it.clock.advance(2_000);
    const first = uidOf(it.pod(mirror));
    await it.manifests();
    await it.clock.advance(1_000);
    await it.manifests(pod);
    await it.clock.advance(20_000);
    assert.deepEqual([it.phase(mirror), it.isReady(mirror)], ['Running', true]);
    assert.notEqual(uidOf(it.pod(mirror)), first);
    const containers = it.containers(mirror);
    await it.stop();
    await it.start();
    await it.clock.advance(60_000);
    assert.deepEqual([it.phase(mirror), it.containers(mirror)], ['Running', containers]);
    await it.stop();
  });

  test('that comes back while the API server still shows its former life begins anew', async () => {
    const it = await started();
    await it.manifests(pod);
    await it.clock.advance(2_000);
    it.api.faults.away();
    await it.manifests();
    await it.clock.advance(40_000);
    assert.deepEqual(it.containers(mirror), []);
    await it.manifests(pod);
    await it.clock.advance(5_000);
    it.api.faults.back();
    await it.clock.advance(60_000);
    const [main] = it.pod(mirror)?.status?.containerStatuses ?? [];
    assert.deepEqual([it.phase(mirror), it.isReady(mirror), main?.restartCount], ['Running', true, 0]);
    assert.deepEqual(main?.lastState, {});
    await it.stop();
  });

  for (const restartPolicy of ['Never', 'OnFailure']) {
    test(`that comes back after it had succeeded runs again, though the agent is restarted: ${restartPolicy}`, async () => {
      const it = await started();
      const job = aStaticPod('static', { restartPolicy });
      it.cri.programs.forContainer('main', exitAfter(100, 0), {});
      await it.manifests(job);
      await it.clock.advance(5_000);
      assert.equal(it.phase(mirror), 'Succeeded');
      // Between its lives: nothing of the former one runs, and not all of it is removed.
      it.cri.faults.hang('removePodSandbox', { times: 1 });
      await it.manifests();
      await it.manifests(job);
      await it.clock.advance(1_000);
      assert.deepEqual([it.phase(mirror), it.containers(mirror)], ['Pending', []]);
      await it.stop();
      await it.start();
      await it.clock.advance(20_000);
      assert.deepEqual([it.phase(mirror), it.containers(mirror)], ['Running', ['main#0 running']]);
      await it.stop();
    });
  }

  test('that comes back while the API server is away outlives its agent', async () => {
    const it = await started();
    const job = aStaticPod('static', { restartPolicy: 'OnFailure' });
    it.cri.programs.forContainer('main', exitAfter(100, 0), {});
    await it.manifests(job);
    await it.clock.advance(5_000);
    assert.equal(it.phase(mirror), 'Succeeded');
    it.api.faults.away();
    await it.manifests();
    await it.clock.advance(5_000);
    await it.manifests(job);
    await it.clock.advance(5_000);
    assert.deepEqual(it.containers(mirror), ['main#0 running']);
    await it.kill();
    it.api.faults.back();
    assert.equal(it.phase(mirror), 'Succeeded', 'the API server still shows the former life');
    await it.start();
    await it.clock.advance(60_000);
    assert.deepEqual([it.phase(mirror), it.containers(mirror)], ['Running', ['main#0 running']]);
    await it.stop();
  });

  test('waits neither for the API server nor for the node to be known', async () => {
    const it = new ClusterWorld({ registered: false });
    it.api.faults.away();
    it.cri.programs.otherwise(({ attempt }) => (attempt === 0 ? exitAfter(10_000, 1) : {}));
    await it.start();
    await it.manifests(pod);
    await it.clock.advance(60_000);
    assert.deepEqual(it.containers(mirror).at(-1), 'main#1 running');
    it.api.faults.back();
    await it.clock.advance(60_000);
    assert.equal(it.pod(mirror), undefined, 'there is no node that could own it');
    it.registerNode();
    await it.clock.advance(5_000);
    assert.deepEqual([it.phase(mirror), it.isReady(mirror)], ['Running', true]);
    assert.equal(it.pod(mirror)?.status?.containerStatuses?.[0]?.restartCount, 1);
    await it.stop();
  });

  test('is shown once, though the answer that it is shown got lost', async () => {
    const it = await started();
    it.api.faults.loseAnswers({ when: ({ verb, resource }) => verb === 'create' && resource === 'pods', times: 1 });
    await it.manifests(pod);
    await it.clock.advance(5_000);
    assert.deepEqual([it.phase(mirror), it.api.objects.all(apiResources.pods).length], ['Running', 1]);
    assert.deepEqual(it.writes({ verb: 'delete' }), []);
    await it.stop();
  });

  test('whose manifest went while no agent was there is shown no more', async () => {
    const it = await started();
    await it.manifests(pod);
    await it.clock.advance(2_000);
    await it.stop();
    await it.manifests();
    await it.start();
    await it.clock.advance(5_000);
    assert.deepEqual([it.pod(mirror), it.containers(mirror)], [undefined, []]);
    await it.stop();
  });

  test('keeps the one that shows it over a restart of the agent', async () => {
    const it = await started();
    await it.manifests(pod);
    await it.clock.advance(2_000);
    const { metadata } = it.pod(mirror) ?? {};
    await it.stop();
    it.api.forgetRequests();
    await it.start();
    await it.clock.advance(20_000);
    assert.equal(uidOf(it.pod(mirror)), metadata?.uid);
    assert.deepEqual(it.writes(), []);
    await it.stop();
  });
});
