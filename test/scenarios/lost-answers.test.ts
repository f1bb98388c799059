import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';

/** What a failed try leaves in the runtime comes back as an event, and must not set off the next try at once. */
describe('a runtime that does not do what it should', () => {
  const count = (it: AgentWorld, verb: string): number => it.verbs().filter((called) => called === verb).length;

  for (const [verb, afterwards] of [
    ['createContainer', true],
    ['createContainer', false],
    ['startContainer', false],
  ] as const) {
    test(`${verb} that fails ${afterwards ? 'after' : 'before'} the deed is tried again after a second, then every ten`, async () => {
      const it = new AgentWorld();
      it.cri.faults.fail(verb, 'unavailable', { afterwards });
      await it.start();
      await it.manifests(aPod());
      await it.clock.advance(900);
      assert.equal(count(it, verb), 1);
      await it.clock.advance(1_000);
      assert.equal(count(it, verb), 2);
      await it.clock.advance(60_000);
      assert.ok(count(it, verb) >= 6 && count(it, verb) <= 9, `${count(it, verb)} tries in a minute`);
      it.cri.faults.clear();
      await it.clock.advance(11_000);
      assert.deepEqual(it.containers(), ['main#0 running']);
      await it.stop();
    });
  }

  test('a changed manifest is tried at once', async () => {
    const it = new AgentWorld();
    it.cri.faults.fail('createContainer', 'invalid', { times: 1, message: 'no such device' });
    await it.start();
    await it.manifests(aPod());
    await it.clock.advance(100);
    assert.equal(it.status('uid-1')?.containerStatuses?.[0]?.state?.waiting?.reason, 'CreateContainerError');
    await it.manifests(aPod({ spec: { containers: [aContainer('main', { args: ['other'] })] } }));
    await it.clock.advance(100);
    assert.deepEqual(it.containers(), ['main#0 running']);
    await it.stop();
  });

  test('a restart that does not come about is not counted', async () => {
    const it = new AgentWorld();
    await it.start();
    await it.manifests(aPod());
    await it.clock.advance(20_000);
    it.cri.faults.fail('createContainer', 'timeout', { times: 1, afterwards: true });
    it.cri.faults.fail('removeContainer', 'timeout', { times: 1, afterwards: true });
    it.cri.killContainer(it.cri.containerNamed('main')?.id ?? '');
    await it.clock.advance(60_000);
    assert.deepEqual(it.containers(), ['main#0 exited', 'main#1 running']);
    const counts = it.statusHistory.get('uid-1')?.flatMap(({ containerStatuses }) => containerStatuses ?? []);
    const told = (counts ?? []).map(({ restartCount }) => restartCount);
    assert.deepEqual([...new Set(told)], [0, 1]);
    assert.deepEqual(
      told,
      told.toSorted((a, b) => a - b),
    );
    await it.stop();
  });

  test('a start whose answer is lost counts as started', async () => {
    const it = new AgentWorld();
    it.cri.faults.fail('startContainer', 'timeout', { times: 1, afterwards: true });
    await it.start();
    await it.manifests(aPod());
    await it.clock.advance(1_000);
    assert.deepEqual(it.containers(), ['main#0 running']);
    assert.equal(it.isReady(), true);
    await it.stop();
  });
});
