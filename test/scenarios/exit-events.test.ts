import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';

/** An agent with one running pod that nothing has happened to for a minute: its relists are ten seconds apart. */
async function quietNode(): Promise<AgentWorld> {
  const it = new AgentWorld();
  await it.start();
  await it.manifests(aPod());
  await it.clock.advance(60_000);
  assert.deepEqual(it.containers(), ['main#0 running']);
  return it;
}

const idOf = (it: AgentWorld): string => it.cri.containerNamed('main')?.id ?? '';

describe('a container that ends by itself', () => {
  test('with events it is replaced within 100 ms', async () => {
    const it = await quietNode();
    it.cri.killContainer(idOf(it), { code: 3 });
    await it.clock.advance(100);
    assert.deepEqual(it.containers(), ['main#0 exited', 'main#1 running']);
    const [status] = it.status('uid-1')?.containerStatuses ?? [];
    assert.equal(status?.lastState?.terminated?.exitCode, 3);
    assert.equal(status.restartCount, 1);
    await it.stop();
  });

  test('with an event that was lost it is replaced after the next audit', async () => {
    const it = await quietNode();
    it.cri.events.loseNext(1);
    it.cri.killContainer(idOf(it));
    await it.clock.advance(10_000);
    assert.deepEqual(it.containers(), ['main#0 exited', 'main#1 running']);
    await it.stop();
  });

  test('without events it is replaced within a second', async () => {
    const it = new AgentWorld();
    it.cri.events.supported = false;
    await it.start();
    await it.manifests(aPod());
    await it.clock.advance(60_000);
    it.cri.killContainer(idOf(it));
    await it.clock.advance(1_000);
    assert.deepEqual(it.containers(), ['main#0 exited', 'main#1 running']);
    await it.stop();
  });

  test('an idle node with events is listed a tenth as often as one without', async () => {
    const listings = async (supported: boolean): Promise<number> => {
      const it = new AgentWorld();
      it.cri.events.supported = supported;
      await it.start();
      await it.manifests(aPod());
      await it.clock.advance(60_000);
      const calls = (): number => it.cri.calls.filter(({ verb }) => verb === 'listPodSandbox').length;
      const before = calls();
      await it.clock.advance(100_000);
      const after = calls();
      await it.stop();
      return after - before;
    };
    const [events, none] = [await listings(true), await listings(false)];
    assert.ok(events * 9 < none, `${events} calls with events, ${none} without`);
  });
});
