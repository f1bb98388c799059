import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exitAfter } from '../../src/testing/fake-cri/index.ts';
import { aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';

const hourMs = 3_600_000;

describe('a wall that is set', () => {
  test('back does not keep a crashed container down', async () => {
    const it = new AgentWorld();
    it.cri.programs.forContainer('main', exitAfter(0, 1), exitAfter(0, 1), {});
    await it.start();
    await it.manifests(aPod());
    await it.clock.advance(2_500);
    assert.equal(it.containers().at(-1), 'main#1 exited');
    it.clock.setWall(it.clock.now() - hourMs);
    await it.clock.advance(11_000);
    assert.equal(it.containers().at(-1), 'main#2 running');
    await it.stop();
  });

  test('back does not make an older container count as the newest', async () => {
    const it = new AgentWorld();
    it.cri.programs.forContainer('main', {}, {}, {});
    await it.start();
    await it.manifests(aPod());
    await it.clock.advance(60_000);
    it.clock.setWall(it.clock.now() - hourMs);
    for (const attempt of [1, 2]) {
      it.cri.killContainer(it.cri.containerNamed('main')?.id ?? '');
      await it.clock.advance(30_000);
      assert.equal(it.containers().at(-1), `main#${attempt} running`);
    }
    await it.stop();
  });

  test('back does not make an older sandbox count as the newest', async () => {
    const it = new AgentWorld();
    await it.start();
    await it.manifests(aPod());
    await it.clock.advance(60_000);
    it.clock.setWall(it.clock.now() - hourMs);
    const [sandbox] = it.cri.state.sandboxes.values();
    it.cri.killSandbox(sandbox?.id ?? '');
    await it.clock.advance(300_000);
    assert.equal(it.sandboxes().at(-1), '#1 ready');
    assert.equal(it.verbs().filter((verb) => verb === 'runPodSandbox').length, 2);
    await it.stop();
  });

  test('back does not keep an image from being pulled again', async () => {
    const it = new AgentWorld();
    it.cri.faults.fail('pullImage', 'unavailable', { times: 1 });
    await it.start();
    await it.manifests(aPod({ spec: { containers: [{ name: 'main', image: 'localhost/other:1' }] } }));
    it.clock.setWall(it.clock.now() - hourMs);
    await it.clock.advance(11_000);
    assert.deepEqual(it.containers(), ['main#0 running']);
    await it.stop();
  });
});
