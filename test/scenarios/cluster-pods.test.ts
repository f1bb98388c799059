import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod, PodCondition } from '../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import { exitAfter, stopsSlowly } from '../../src/testing/fake-cri/index.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { ClusterWorld } from '../support/cluster-world.ts';

const hungry = (cpu: string) => ({ containers: [aContainer('main', { resources: { requests: { cpu } } })] });
const started = async (): Promise<ClusterWorld> => {
  const it = new ClusterWorld();
  await it.start();
  return it;
};

describe('a pod of the API server', () => {
  test('runs, is told of, and is taken out when it was deleted and nothing of it is left', async () => {
    const it = await started();
    it.cri.programs.otherwise(() => stopsSlowly(5_000));
    const uid = it.bind('web');
    await it.clock.advance(2_000);
    assert.deepEqual([it.phase('web'), it.isReady('web')], ['Running', true]);

    it.delete('web');
    await it.clock.advance(4_000);
    assert.deepEqual(it.containers('web'), ['main#0 running']);
    assert.equal(it.isReady('web'), true, 'it serves until it has ended');
    assert.deepEqual(it.writes({ verb: 'delete' }), []);
    await it.clock.advance(4_000);
    assert.equal(it.pod('web'), undefined);
    const [request] = it.api.requests({ resource: 'pods', verb: 'delete' });
    assert.deepEqual(request?.body, {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      gracePeriodSeconds: 0,
      preconditions: { uid },
    });
    const last = it.api.requests({ resource: 'pods', verb: 'patch' }).at(-1)?.body as Pod;
    assert.equal(last.status?.phase, 'Failed', 'its last word came before');
    await it.clock.advance(5_000);
    assert.deepEqual([it.containers('web'), it.gone], [[], [uid]]);
    await it.stop();
  });

  test('another one of its name, made while it ends, is let alone by its end', async () => {
    const it = await started();
    it.cri.programs.otherwise(() => stopsSlowly(10_000));
    const old = it.bind('web');
    await it.clock.advance(2_000);
    it.delete('web');
    await it.clock.advance(1_000);
    it.api.objects.wipe(apiResources.pods, { namespace: 'default', name: 'web' });
    const next = it.bind('web');
    assert.notEqual(next, old);
    await it.clock.advance(5_000);
    assert.deepEqual(it.containersOf(old), ['main#0 running'], 'it has its grace, wanted or not');
    await it.clock.advance(20_000);
    assert.equal(it.pod('web')?.metadata?.uid, next);
    assert.deepEqual([it.phase('web'), it.isReady('web')], ['Running', true]);
    assert.deepEqual(it.containersOf(next), ['main#0 running']);
    assert.deepEqual(it.containersOf(old), []);
    assert.deepEqual(it.writes({ verb: 'delete' }), []);
    await it.stop();
  });

  test('that is told to go at once goes at once', async () => {
    const it = await started();
    it.cri.programs.otherwise(() => stopsSlowly(60_000));
    const uid = it.bind('web');
    await it.clock.advance(2_000);
    it.delete('web', 0);
    await it.clock.advance(5_000);
    assert.deepEqual([it.pod('web'), it.containersOf(uid)], [undefined, []]);
    await it.stop();
  });

  test('that does not fit has failed, says why, and can be deleted', async () => {
    const it = await started();
    it.bind('first', hungry('3'));
    await it.clock.advance(1_000);
    it.bind('big', hungry('3'));
    await it.clock.advance(2_000);
    const { phase, reason, message } = it.pod('big')?.status ?? {};
    assert.deepEqual([phase, reason], ['Failed', 'OutOfcpu']);
    assert.match(message ?? '', /^Pod was rejected: Node didn't have enough resource: cpu/);
    assert.deepEqual(it.containers('big'), []);
    assert.ok(it.events().includes('big OutOfcpu 1'));
    it.delete('big');
    await it.clock.advance(2_000);
    assert.equal(it.pod('big'), undefined);
    assert.equal(it.phase('first'), 'Running');
    await it.stop();
  });

  test('that has ended stays as it is, and frees its place', async () => {
    const it = await started();
    it.cri.programs.otherwise(({ pod }) => (pod === 'job' ? exitAfter(1_000, 0) : {}));
    it.bind('job', { ...hungry('3'), restartPolicy: 'Never' });
    await it.clock.advance(10_000);
    const { phase, containerStatuses } = it.pod('job')?.status ?? {};
    assert.equal(phase, 'Succeeded');
    assert.equal(containerStatuses?.[0]?.state?.terminated?.exitCode, 0);
    it.bind('next', hungry('3'));
    await it.clock.advance(2_000);
    assert.equal(it.phase('next'), 'Running');
    it.delete('job');
    await it.clock.advance(2_000);
    assert.equal(it.pod('job'), undefined);
    await it.stop();
  });

  test('keeps what others say of it', async () => {
    const it = await started();
    it.bind('web', { readinessGates: [{ conditionType: 'example.com/gate' }] });
    await it.clock.advance(2_000);
    assert.equal(it.isReady('web'), false);
    const gate: PodCondition = { type: 'example.com/gate', status: 'True' };
    it.api.objects.edit<Pod>(apiResources.pods, { namespace: 'default', name: 'web' }, (pod) => ({
      ...pod,
      status: { ...pod.status, conditions: [...(pod.status?.conditions ?? []), gate], nominatedNodeName: 'elsewhere' },
    }));
    await it.clock.advance(2_000);
    assert.equal(it.isReady('web'), true, 'the gate was heard of');
    const { conditions = [], nominatedNodeName } = it.pod('web')?.status ?? {};
    assert.deepEqual(
      conditions.find(({ type }) => type === gate.type),
      gate,
    );
    assert.equal(nominatedNodeName, 'elsewhere');
    await it.stop();
  });

  test('does not come in before the node is known', async () => {
    const it = new ClusterWorld({ registered: false });
    // The list of nodes is held up; that of pods is there.
    it.api.faults.hang({ when: ({ resource }) => resource === 'nodes' });
    await it.start();
    it.bind('web');
    await it.clock.advance(30_000);
    assert.deepEqual([it.phase('web'), it.containers('web')], ['Pending', []]);
    it.api.faults.clear();
    it.registerNode();
    await it.clock.advance(100_000);
    assert.equal(it.phase('web'), 'Running');
    await it.stop();
  });

  test('of another node, or of none yet, is none of our business', async () => {
    const it = await started();
    it.bind('other', { nodeName: 'node-2' });
    const { nodeName: _, ...unbound } = { nodeName: '', containers: [aContainer('main')] };
    it.api.objects.put<Pod>({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'new' }, spec: unbound });
    await it.clock.advance(10_000);
    assert.deepEqual([it.containers('other'), it.containers('new')], [[], []]);
    it.api.objects.bind({ namespace: 'default', name: 'new' }, 'node-1');
    await it.clock.advance(2_000);
    assert.deepEqual(it.containers('new'), ['main#0 running']);
    await it.stop();
  });
});
