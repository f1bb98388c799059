import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stopsSlowly, ignoresTerm } from '../../src/testing/fake-cri/index.ts';
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

  test('that does not end is cut off by the grace', async () => {
    const it = await world();
    const lifecycle = { preStop: { sleep: { seconds: 600 } } };
    await it.manifests(
      aPod({ spec: { containers: [aContainer('main', { lifecycle })], terminationGracePeriodSeconds: 5 } }),
    );
    await it.manifests();
    await it.clock.advance(5_100);
    assert.deepEqual(stops(it), ['2']);
    assert.ok(it.eventReasons().includes('FailedPreStopHook'));
    await it.stop();
  });

  test('runs in the container', async () => {
    const it = await world();
    const lifecycle = { preStop: { exec: { command: ['bye'] } } };
    await it.manifests(aPod({ spec: { containers: [aContainer('main', { lifecycle })] } }));
    await it.manifests();
    await it.clock.advance(100);
    const verbs = it.verbs();
    assert.ok(verbs.indexOf('execSync') > 0 && verbs.indexOf('execSync') < verbs.indexOf('stopContainer'));
    await it.stop();
  });
});

describe('postStart', () => {
  test('that fails takes the container with it, and it comes back with a back-off', async () => {
    const it = await world();
    it.cri.faults.fail('execSync', 'internal', { message: 'no such command' });
    const lifecycle = { postStart: { exec: { command: ['hello'] } } };
    await it.manifests(aPod({ spec: { containers: [aContainer('main', { lifecycle })] } }));
    await it.clock.advance(5_000);
    assert.ok(it.eventReasons().includes('FailedPostStartHook'));
    const starts = it.verbs().filter((verb) => verb === 'startContainer').length;
    assert.ok(starts <= 3, `${starts} starts within five seconds`);
    it.cri.faults.clear();
    await it.clock.advance(60_000);
    assert.equal(it.isReady(), true);
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

  test('a main container that takes all the grace leaves them the least', async () => {
    const it = await world();
    it.cri.programs.forContainer('main', ignoresTerm());
    it.cri.programs.forContainer('side', ignoresTerm());
    await it.manifests(
      aPod({
        spec: { initContainers: [aContainer('side', { restartPolicy: 'Always' })], terminationGracePeriodSeconds: 4 },
      }),
    );
    await it.manifests();
    await it.clock.advance(6_200);
    assert.deepEqual(it.containers(), []);
    assert.deepEqual(stops(it), ['4', '2']);
    await it.stop();
  });
});
