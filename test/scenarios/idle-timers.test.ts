import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DesiredPod } from '../../src/model/desired-pod.ts';
import { exitAfter } from '../../src/testing/fake-cri/index.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';

/**
 * What waits costs no timer of its own: looks that are due later stand in one queue with one timer for all pods. Only a
 * probe has its own, because it has a rhythm of its own.
 */
type Containers = Parameters<typeof aContainer>[1];

const podsOf = (count: number, container: Containers = {}): DesiredPod[] =>
  Array.from({ length: count }, (_, index) =>
    aPod({ uid: `uid-${index}`, name: `pod-${index}`, spec: { containers: [aContainer('main', container)] } }),
  );

/** Timers that are armed when pods have been there for two minutes; the runtime has none of its own while it idles. */
async function timersWith(
  pods: readonly DesiredPod[],
  it: AgentWorld = new AgentWorld({ config: { maxPods: 1_000 } }),
): Promise<number> {
  await it.start();
  await it.manifests(...pods);
  await it.clock.advance(120_000);
  const timers = it.clock.pending();
  await it.stop();
  assert.equal(it.clock.pending(), 0, 'a stopped agent has no timers');
  return timers;
}

describe('timers of an agent whose pods idle', () => {
  test('are as many with a hundred pods as with one', async () => {
    const hundred = new AgentWorld({ config: { maxPods: 1_000 } });
    const timers = await timersWith(podsOf(100), hundred);
    assert.equal(hundred.statusHistory.size, 100);
    for (const [uid] of hundred.statusHistory) assert.equal(hundred.lastStatus(uid).phase, 'Running');
    assert.equal(timers, await timersWith(podsOf(1)));
  });

  test('are as many with twenty pods in back-off as with one', async () => {
    const crashing = async (count: number): Promise<number> => {
      const it = new AgentWorld();
      it.cri.programs.forContainer('main', exitAfter(100, 1));
      const timers = await timersWith(podsOf(count), it);
      const [status] = it.lastStatus('uid-0').containerStatuses ?? [];
      assert.equal(status?.state?.waiting?.reason, 'CrashLoopBackOff');
      return timers;
    };
    assert.equal(await crashing(20), await crashing(1));
  });

  test('grow by one with each probe', async () => {
    const exec = { command: ['true'] };
    const probes = { readinessProbe: { exec, periodSeconds: 10 }, livenessProbe: { exec, periodSeconds: 10 } };
    const without = await timersWith(podsOf(30));
    assert.equal((await timersWith(podsOf(30, probes))) - without, 60);
  });
});
