import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { exitAfter, stopsSlowly } from '../../src/testing/fake-cri/index.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { aStaticPod, ClusterWorld } from '../support/cluster-world.ts';

const hungry = (cpu: string) => ({ containers: [aContainer('main', { resources: { requests: { cpu } } })] });
const numbered = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

async function started(): Promise<ClusterWorld> {
  const it = new ClusterWorld();
  await it.start();
  return it;
}

/** The node looks at what it has each ten seconds. */
const nodeLookMs = 11_000;
const statusPatch = { verb: 'patch', subresource: 'status' } as const;

describe('an agent that comes back', () => {
  test('judges nobody again who runs, and changes no status', async () => {
    for (const checkpoint of [true, false]) {
      const it = await started();
      for (const name of numbered('web', 3)) it.bind(name, hungry('1'));
      await it.clock.advance(2_000);
      const before = numbered('web', 3).map((name) => it.pod(name)?.status);
      await it.stop({ checkpoint });
      it.machine.capacity['cpu'] = '1';
      it.api.forgetRequests();
      await it.start();
      await it.clock.advance(70_000);
      assert.deepEqual(
        numbered('web', 3).map((name) => it.pod(name)?.status),
        before,
      );
      assert.deepEqual(it.writes(), []);
      assert.deepEqual(
        numbered('web', 3).flatMap((name) => it.containers(name)),
        Array(3).fill('main#0 running'),
      );
      await it.stop();
    }
  });

  test('lets nobody in whom it turned away before, though there is room now', async () => {
    const it = await started();
    it.machine.capacity['cpu'] = '1';
    await it.clock.advance(nodeLookMs);
    it.bind('big', hungry('3'));
    await it.clock.advance(2_000);
    assert.equal(it.phase('big'), 'Failed');
    await it.stop({ checkpoint: false });
    it.machine.capacity['cpu'] = '8';
    await it.start();
    await it.clock.advance(5_000);
    assert.deepEqual([it.phase('big'), it.pod('big')?.status?.reason], ['Failed', 'OutOfcpu']);
    assert.deepEqual(it.containers('big'), []);
    it.delete('big');
    await it.clock.advance(5_000);
    assert.equal(it.pod('big'), undefined);
    await it.stop();
  });

  test('does not run again what has ended, though nothing is left of it in the runtime', async () => {
    const it = await started();
    it.cri.programs.otherwise(() => exitAfter(1_000, 0));
    it.bind('job', { restartPolicy: 'Never' });
    await it.clock.advance(5_000);
    const { status } = it.pod('job') ?? {};
    assert.equal(status?.phase, 'Succeeded');
    await it.stop({ checkpoint: false });
    for (const id of it.cri.state.sandboxes.keys()) await it.cri.removePodSandbox({ podSandboxId: id });
    await it.start();
    await it.clock.advance(70_000);
    assert.deepEqual([it.containers('job'), it.phase('job')], [[], 'Succeeded']);
    assert.deepEqual(it.pod('job')?.status?.containerStatuses, status?.containerStatuses);
    await it.stop();
  });

  test('while the API server is away lets run what runs, and starts what the folder wants', async () => {
    const it = await started();
    const pod = aStaticPod('static');
    it.bind('web');
    await it.manifests(pod);
    await it.clock.advance(2_000);
    const before = [it.pod('web')?.status, it.pod('static-node-1')?.status];
    it.api.faults.away();
    await it.kill();
    const more = aStaticPod('more');
    await it.manifests(pod, more);
    await it.start();
    await it.clock.advance(300_000);
    for (const name of ['web', 'static-node-1', 'more-node-1'])
      assert.deepEqual(it.containers(name), ['main#0 running']);
    it.api.forgetRequests();
    it.api.faults.back();
    await it.clock.advance(60_000);
    for (const name of ['web', 'static-node-1', 'more-node-1'])
      assert.deepEqual(it.containers(name), ['main#0 running']);
    assert.deepEqual([it.pod('web')?.status, it.pod('static-node-1')?.status], before);
    assert.equal(it.isReady('more-node-1'), true);
    assert.deepEqual(it.writes({ name: 'web' }), []);
    await it.stop();
  });
});

describe('an agent that is killed', () => {
  test('between the last word of a pod and taking it out leaves that to the next one', async () => {
    for (const moment of ['before the last word', 'before the end', 'before the answer'] as const) {
      const it = await started();
      it.cri.programs.otherwise(() => stopsSlowly(1_000, 0));
      const uid = it.bind('web');
      await it.clock.advance(2_000);
      if (moment === 'before the last word') {
        it.api.faults.hang({
          when: ({ verb, body }) => verb === 'patch' && (body as Pod).status?.phase === 'Succeeded',
        });
      } else if (moment === 'before the end') it.api.faults.hang({ when: ({ verb }) => verb === 'delete' });
      else it.api.faults.loseAnswers({ when: ({ verb }) => verb === 'delete' });
      it.delete('web');
      await it.clock.advance(3_000);
      await it.kill();
      it.api.faults.clear();
      await it.clock.advance(10_000);
      const starts = (): number => it.cri.calls.filter(({ verb }) => verb === 'startContainer').length;
      const startsBefore = starts();
      await it.start();
      await it.clock.advance(20_000);
      assert.equal(it.pod('web'), undefined, moment);
      assert.deepEqual([it.containersOf(uid), starts()], [[], startsBefore], moment);
      await it.stop();
    }
  });

  test('in the middle of a start is followed by one that finishes it, once', async () => {
    const it = await started();
    it.cri.faults.hang('startContainer', { times: 1 });
    it.bind('web');
    await it.clock.advance(2_000);
    await it.kill();
    await it.start();
    await it.clock.advance(20_000);
    assert.deepEqual([it.containers('web'), it.isReady('web')], [['main#0 running'], true]);
    assert.equal(it.pod('web')?.status?.containerStatuses?.[0]?.restartCount, 0);
    await it.stop();
  });
});

describe('an answer that got lost', () => {
  test('to a status costs one look, not a circle', async () => {
    const it = await started();
    it.api.faults.loseAnswers({ when: (request) => request.verb === statusPatch.verb, times: 2 });
    it.bind('web');
    await it.clock.advance(20_000);
    assert.equal(it.isReady('web'), true);
    assert.ok(it.writes(statusPatch).length <= 5, it.writes(statusPatch).join());
    const writes = it.writes().length;
    await it.clock.advance(120_000);
    assert.equal(it.writes().length, writes);
    await it.stop();
  });

  test('to the end of a pod costs its successor nothing', async () => {
    const it = await started();
    it.api.faults.loseAnswers({ when: ({ verb }) => verb === 'delete', times: 1 });
    const old = it.bind('web');
    await it.clock.advance(2_000);
    it.delete('web');
    await it.clock.runUntil(() => it.pod('web') === undefined, 10_000);
    const next = it.bind('web');
    await it.clock.advance(60_000);
    assert.deepEqual([it.pod('web')?.metadata?.uid, it.isReady('web')], [next, true]);
    assert.deepEqual([it.containersOf(old), it.containersOf(next)], [[], ['main#0 running']]);
    await it.stop();
  });

  test('to a whole storm of requests is survived', async () => {
    const it = await started();
    let count = 0;
    it.api.faults.loseAnswers({ when: ({ verb }) => verb !== 'watch' && count++ % 3 === 0, times: 60 });
    for (const name of numbered('web', 10)) it.bind(name);
    await it.clock.advance(60_000);
    for (const name of numbered('web', 5)) it.delete(name);
    await it.clock.advance(120_000);
    for (const [index, name] of numbered('web', 10).entries()) {
      assert.deepEqual([it.pod(name) !== undefined, it.isReady(name)], [index >= 5, index >= 5], name);
      assert.deepEqual(it.containers(name), index >= 5 ? ['main#0 running'] : []);
    }
    await it.stop();
  });
});
