import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Lease } from '../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import { WholeAgent } from '../support/whole-agent.ts';

describe('the whole agent without a cluster', () => {
  test('runs the pod of a manifest while its file is there', async () => {
    const agent = new WholeAgent();
    await agent.start();
    agent.manifest('web');
    await agent.clock.advance(10_000);
    assert.deepEqual(agent.running(), ['web-node-1']);
    const [uid = ''] = agent.playedPods().map((pod) => pod.uid);
    assert.deepEqual(await agent.machine.files.list('/var/lib/kubelet/pods'), [uid]);
    assert.ok(agent.machine.cgroups.groups.has(`/kubepods/besteffort/pod${uid}`));
    agent.removeManifest('web');
    await agent.clock.advance(120_000);
    const { cri, files, cgroups } = agent.machine;
    assert.deepEqual([cri.state.sandboxes.size, cri.state.containers.size], [0, 0]);
    assert.deepEqual(await files.list('/var/lib/kubelet/pods'), []);
    assert.deepEqual(
      [...cgroups.groups.keys()].filter((path) => path.includes(uid)),
      [],
    );
    assert.deepEqual(agent.remembered(), {});
    await agent.stop();
  });

  test('leaves pods alone when it ends, and takes them on when it is back', async () => {
    const agent = new WholeAgent();
    await agent.start();
    agent.manifest('web');
    await agent.clock.advance(10_000);
    await agent.kill();
    assert.deepEqual(agent.running(), ['web-node-1']);
    await agent.start();
    await agent.clock.advance(60_000);
    assert.deepEqual(agent.running(), ['web-node-1']);
    assert.equal(agent.playedPods().length, 1);
    agent.removeManifest('web');
    await agent.kill();
    await agent.start();
    await agent.clock.advance(120_000);
    assert.deepEqual(agent.running(), []);
    assert.deepEqual(agent.remembered(), {});
    await agent.stop();
  });
});

test('statuses come back with the checkpoint, and only with it', async () => {
  for (const keep of [true, false]) {
    const agent = new WholeAgent();
    await agent.start();
    agent.manifest('web');
    await agent.clock.advance(60_000);
    const [before] = agent.views.pods.pods();
    await agent.stop();
    if (!keep) await agent.machine.files.removeFile('/var/lib/kubelet/pod_statuses_state');
    await agent.clock.advance(60_000);
    await agent.start();
    await agent.clock.advance(60_000);
    const [after] = agent.views.pods.pods();
    assert.equal(after?.status?.phase, 'Running');
    assert.equal(after.status.startTime === before?.status?.startTime, keep);
    await agent.stop();
  }
});

describe('the whole agent in a cluster', () => {
  test('registers its node, keeps its lease, runs what is bound to it and mirrors what is not', async () => {
    const agent = new WholeAgent({ cluster: true });
    await agent.start();
    await agent.clock.advance(15_000);
    assert.equal(condition(agent, 'Ready'), 'True');
    const lease = renewed(agent);
    agent.bind('web');
    agent.manifest('static');
    await agent.clock.advance(30_000);
    assert.ok(renewed(agent) > lease, `${renewed(agent)} > ${lease}`);
    assert.deepEqual(agent.running(), ['static-node-1', 'web']);
    assert.equal(agent.pod('web')?.status?.phase, 'Running');
    assert.equal(agent.pod('static-node-1')?.metadata?.annotations?.['kubernetes.io/config.source'], 'file');
    assert.equal(agent.pod('static-node-1')?.status?.phase, 'Running');
    agent.delete('web');
    agent.removeManifest('static');
    await agent.clock.advance(120_000);
    assert.deepEqual([agent.running(), agent.pod('web'), agent.pod('static-node-1')], [[], undefined, undefined]);
    assert.deepEqual(agent.remembered(), {});
    await agent.stop();
  });

  test('keeps statuses over a restart by its checkpoint', async () => {
    for (const end of ['stop', 'kill'] as const) {
      const agent = new WholeAgent({ cluster: true });
      await agent.start();
      agent.bind('web');
      agent.manifest('static');
      await agent.clock.advance(60_000);
      const names = ['web', 'static-node-1'];
      const before = names.map((name) => agent.pod(name)?.status);
      assert.deepEqual(
        before.map((status) => status?.phase),
        ['Running', 'Running'],
      );
      await agent[end]();
      await agent.clock.advance(60_000);
      agent.api.forgetRequests();
      await agent.start();
      await agent.clock.advance(70_000);
      assert.deepEqual(
        names.map((name) => agent.pod(name)?.status),
        before,
      );
      assert.deepEqual(agent.api.requests({ verb: 'patch', resource: 'pods' }), []);
      assert.equal(agent.playedPods().length, 2);
      await agent.stop();
    }
  });
});

function condition(agent: WholeAgent, wanted: string): string | undefined {
  return agent.node()?.status?.conditions?.find(({ type }) => type === wanted)?.status;
}

function renewed(agent: WholeAgent): string {
  const lease = agent.api.objects.find<Lease>(apiResources.leases, { namespace: 'kube-node-lease', name: 'node-1' });
  return lease?.spec?.renewTime ?? '';
}
