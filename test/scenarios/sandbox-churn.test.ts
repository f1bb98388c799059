import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cri } from '../../src/cri/index.ts';
import { aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';

test('sandboxes that are never what the pod needs are made once a second, not as fast as the runtime can', async () => {
  // A network plugin that gives no address.
  const runtimeWire = (cri: Cri): Cri => ({
    ...cri,
    podSandboxStatus: async (...asked) => {
      const answer = await cri.podSandboxStatus(...asked);
      return { ...answer, status: answer.status && { ...answer.status, network: { ip: '', additionalIps: [] } } };
    },
  });
  const world = new AgentWorld({ overrides: () => ({ runtimeWire }) });
  const { clock } = world;
  await world.start();
  await world.manifests(aPod());
  await clock.advance(20_000);
  const made = world.verbs().filter((verb) => verb === 'runPodSandbox').length;
  assert.ok(made >= 10 && made <= 25, `${made} sandboxes in 20 s`);
  await world.manifests();
  await clock.advance(60_000);
  assert.deepEqual([world.sandboxes(), world.containers()], [[], []]);
});
