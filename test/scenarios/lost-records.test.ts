import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exitAfter } from '../../src/testing/fake-cri/index.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';

describe('the record of an init container that is gone from the runtime', () => {
  const spec = { initContainers: [aContainer('one'), aContainer('two')] };

  for (const restarted of [false, true]) {
    test(`does not make a running pod look as if it had not begun${restarted ? ', also to a new agent' : ''}`, async () => {
      const it = new AgentWorld();
      for (const name of ['one', 'two']) it.cri.programs.forContainer(name, exitAfter(0, 0));
      await it.start();
      await it.manifests(aPod({ spec }));
      await it.clock.advance(5_000);
      assert.equal(it.phase(), 'Running');
      if (restarted) await it.stop({ checkpoint: false });
      for (const name of ['one', 'two']) {
        await it.cri.removeContainer({ containerId: it.cri.containerNamed(name)?.id ?? '' });
      }
      if (restarted) await it.start();
      await it.clock.advance(100_000);
      assert.deepEqual(it.containers(), ['main#0 running']);
      assert.equal(it.phase(), 'Running');
      assert.equal(it.isReady(), true);
      await it.stop();
    });
  }
});
