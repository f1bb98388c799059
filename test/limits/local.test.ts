import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { describe, test } from 'node:test';
import { clock } from '../support/real-wait.ts';
import { LimitNode } from './support/limit-node.ts';
import { catches, listeningPorts } from './support/listening-ports.ts';

describe('SIGUSR1, at which Node opens its inspector to every local process', () => {
  test('opens nothing while the agent works', async () => {
    const node = await LimitNode.start('local-signal');
    try {
      const { pid } = node.agent;
      const before = listeningPorts(pid);
      assert.deepEqual(
        before,
        [node.port, node.healthzPort, node.readOnlyPort].toSorted((one, other) => one - other),
      );
      await node.during(async () => {
        for (let count = 0; count < 5; count++) {
          node.agent.kill('SIGUSR1');
          await clock.sleep(100);
        }
      });
      assert.deepEqual(listeningPorts(pid), before);
      assert.doesNotMatch(node.agent.text, /Debugger|inspector/);
    } finally {
      await node.destroy();
    }
  });

  test('opens nothing that stays while it starts', async () => {
    const node = await LimitNode.create('local-early-signal');
    try {
      const started = node.startAgent();
      // Its handler is there some milliseconds before any code of ours.
      while (node.agent.running && !catches(node.agent.pid, constants.signals.SIGUSR1)) await clock.sleep(1);
      node.agent.kill('SIGUSR1');
      await started;
      const { pid } = node.agent;
      assert.ok(!listeningPorts(pid).some((port) => ![node.port, node.healthzPort, node.readOnlyPort].includes(port)));
    } finally {
      await node.destroy();
    }
  });
});
