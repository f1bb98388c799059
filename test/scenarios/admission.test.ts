import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';

const hungry = (cpu: string) => ({ containers: [aContainer('main', { resources: { requests: { cpu } } })] });

describe('admission', () => {
  test('a pod that does not fit has failed, with the reason, and makes no call', async () => {
    const it = new AgentWorld();
    await it.start();
    await it.manifests(aPod({ spec: hungry('100') }));
    assert.deepEqual(it.verbs(), []);
    const { phase, reason, message } = it.status('uid-1') ?? {};
    // A static pod is critical: others would have given way, but there is nobody who could.
    assert.deepEqual([phase, reason], ['Failed', 'UnexpectedAdmissionError']);
    assert.match(message ?? '', /^Pod was rejected: .*preempt.*cpu/);
    assert.deepEqual(it.eventReasons(), ['UnexpectedAdmissionError']);
    await it.manifests();
    assert.equal(it.status('uid-1'), undefined);
    await it.stop();
  });

  test('what one pod has another cannot get, until it is gone', async () => {
    const it = new AgentWorld();
    await it.start();
    const first = aPod({ uid: 'a', name: 'a', spec: hungry('3') });
    const second = aPod({ uid: 'b', name: 'b', spec: hungry('3') });
    await it.manifests(first, second);
    assert.equal(it.phase('a'), 'Running');
    assert.equal(it.phase('b'), 'Failed');
    await it.manifests();
    await it.clock.advance(1_000);
    await it.manifests(second);
    assert.equal(it.phase('b'), 'Running');
    await it.stop();
  });

  test('a pod that runs is not judged again by the next life of the agent', async () => {
    const it = new AgentWorld();
    await it.start();
    const pods = [aPod({ uid: 'a', name: 'a', spec: hungry('2') }), aPod({ uid: 'b', name: 'b', spec: hungry('2') })];
    await it.manifests(...pods);
    await it.stop();
    it.machine.capacity['cpu'] = '1';
    await it.start();
    await it.clock.advance(5_000);
    assert.deepEqual([it.phase('a'), it.phase('b')], ['Running', 'Running']);
    await it.stop();
  });
});

test('a pod that is active for too long is ended, and says why', async () => {
  const it = new AgentWorld();
  await it.start();
  await it.manifests(aPod({ spec: { activeDeadlineSeconds: 30 } }));
  await it.clock.advance(29_000);
  assert.equal(it.phase(), 'Running');
  await it.clock.advance(2_000);
  const { phase, reason, message } = it.status('uid-1') ?? {};
  assert.deepEqual([phase, reason], ['Failed', 'DeadlineExceeded']);
  assert.equal(message, 'Pod was active on the node longer than the specified deadline');
  assert.ok(it.containers().every((container) => container.endsWith('exited')));
  await it.stop();
});

describe('objects of the folder', () => {
  const spec = {
    containers: [
      aContainer('main', { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'cm', key: 'alpha' } } }] }),
    ],
  };
  test('a pod waits for its ConfigMap and starts when it comes', async () => {
    const it = new AgentWorld();
    await it.start();
    await it.manifests(aPod({ spec }));
    const waiting = it.status('uid-1')?.containerStatuses?.[0]?.state?.waiting;
    assert.equal(waiting?.reason, 'CreateContainerConfigError');
    await it.objects({ kind: 'ConfigMap', namespace: 'default', name: 'cm', object: { data: { alpha: 'one' } } });
    await it.clock.advance(10);
    assert.equal(it.phase(), 'Running');
    const [container] = it.cri.state.containers.values();
    assert.deepEqual(
      container?.config.envs.filter(({ key }) => key === 'A').map(({ value }) => value.toString()),
      ['one'],
    );
    await it.stop();
  });
});
