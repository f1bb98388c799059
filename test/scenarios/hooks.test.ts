import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stopsSlowly } from '../../src/testing/fake-cri/index.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';

async function world(): Promise<AgentWorld> {
  const it = new AgentWorld();
  await it.start();
  return it;
}

const stops = (it: AgentWorld): string[] =>
  it.cri.calls
    .filter(({ verb }) => verb === 'stopContainer')
    .map(({ request }) => String((request as { readonly timeout: bigint }).timeout));

describe('preStop', () => {
  test('runs before the signal, and its whole seconds come off the grace', async () => {
    const it = await world();
    const lifecycle = { preStop: { sleep: { seconds: 3 } } };
    await it.manifests(
      aPod({ spec: { containers: [aContainer('main', { lifecycle })], terminationGracePeriodSeconds: 10 } }),
    );
    await it.manifests();
    await it.clock.advance(2_900);
    assert.deepEqual(stops(it), []);
    await it.clock.advance(200);
    assert.deepEqual(stops(it), ['7']);
    assert.deepEqual(it.containers(), []);
    await it.stop();
  });
});

describe('sidecars', () => {
  test('stop after the main container, the last one first, within one grace', async () => {
    const it = await world();
    const sidecar = (name: string) => aContainer(name, { restartPolicy: 'Always' });
    it.cri.programs.forContainer('main', stopsSlowly(3_000));
    it.cri.programs.forContainer('two', stopsSlowly(2_000));
    await it.manifests(
      aPod({ spec: { initContainers: [sidecar('one'), sidecar('two')], terminationGracePeriodSeconds: 20 } }),
    );
    await it.manifests();
    await it.clock.advance(2_900);
    assert.deepEqual(it.containers(), ['one#0 running', 'two#0 running', 'main#0 running']);
    await it.clock.advance(200);
    assert.deepEqual(it.containers(), ['one#0 running', 'two#0 running', 'main#0 exited']);
    await it.clock.advance(2_200);
    assert.deepEqual(it.containers(), []);
    assert.deepEqual(stops(it), ['20', '17', '15']);
    await it.stop();
  });
});
