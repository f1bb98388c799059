import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exitAfter } from '../../src/testing/fake-cri/index.ts';
import { aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';
import { ClusterWorld } from '../support/cluster-world.ts';

const callMs = 120_000;
const minute = 60_000;

const hung = ({ clock, heartbeats }: Pick<AgentWorld, 'clock' | 'heartbeats'>): readonly string[] =>
  heartbeats.hung(clock.monotonic()).map(({ loop }) => loop);

/** Looks at the loops every minute, for whoever hangs for a while only. */
async function hungWithin(it: Pick<AgentWorld, 'clock' | 'heartbeats'>, minutes: number): Promise<readonly string[]> {
  const found = new Set<string>();
  for (let passed = 0; passed < minutes; passed++) {
    await it.clock.advance(minute);
    for (const loop of hung(it)) found.add(loop);
  }
  return [...found];
}

describe('heartbeats of the loops', () => {
  test('an agent that idles for an hour hangs nowhere, and one that has stopped has no loops', async () => {
    const it = new ClusterWorld();
    await it.start();
    it.bind('web');
    const node = it;
    await it.clock.advance(1_000);
    const names = node.heartbeats.all().map(({ name }) => name);
    for (const name of ['pleg-relist', 'pleg-events', 'pod-resync', 'housekeeping', 'event-recorder']) {
      assert.ok(names.includes(name), `${name} is among ${names.join(', ')}`);
    }
    assert.deepEqual(await hungWithin(node, 60), []);
    await it.stop();
    assert.deepEqual(node.heartbeats.all(), []);
  });

  test('pods that crash, and an API server that is away for half an hour, make no loop hang', async () => {
    const it = new ClusterWorld();
    await it.start();
    it.cri.programs.otherwise(() => exitAfter(5_000, 1));
    it.bind('crash');
    await it.clock.advance(10_000);
    it.api.faults.away();
    assert.deepEqual(await hungWithin(it, 30), []);
    it.api.faults.back();
    assert.deepEqual(await hungWithin(it, 10), []);
    await it.stop();
  });

  test('a runtime that takes two minutes for each answer makes no loop hang', async () => {
    const it = new AgentWorld();
    await it.start();
    await it.manifests(aPod());
    await it.clock.advance(10_000);
    it.cri.programs.otherwise(() => exitAfter(5_000, 1));
    await it.manifests(aPod({ uid: 'uid-2', name: 'crash' }));
    await it.clock.advance(60_000);
    for (const verb of ['listPodSandbox', 'listContainers', 'podSandboxStatus', 'containerStatus'] as const)
      it.cri.faults.delay(verb, callMs);
    for (const verb of ['removeContainer', 'removePodSandbox', 'stopContainer'] as const)
      it.cri.faults.delay(verb, callMs);
    assert.deepEqual(await hungWithin(it, 60), []);
    await it.stop();
  });

  test('a relist that never comes back hangs, and carries pods', async () => {
    let stuck = false;
    const never = new Promise<never>(() => {});
    const it = new AgentWorld({
      overrides: () => ({
        runtimeWire: (cri) => ({
          ...cri,
          listPodSandbox: (...asked) => (stuck ? never : cri.listPodSandbox(...asked)),
        }),
      }),
    });
    await it.start();
    await it.clock.advance(10_000);
    stuck = true;
    assert.deepEqual(await hungWithin(it, 5), []);
    assert.deepEqual(await hungWithin(it, 2), ['pleg-relist']);
    const [loop] = it.heartbeats.hung(it.clock.monotonic());
    assert.equal(loop?.carriesPods, true);
  });
});
