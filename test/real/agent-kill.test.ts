import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { readyCondition, RealNode } from '../support/real-node.ts';
import { idlePod } from '../support/real-pods.ts';
import { clock, until } from '../support/real-wait.ts';

const containers = ['left', 'right'];
const kills = 10;
/** From the manifest's rename; a pod's start takes about this long. */
const longestDelayMs = 600;
const restarts = 5;

/** Another one each time; a failure names it, and TUBELET_SEED brings it back. */
const seed = Number(process.env['TUBELET_SEED'] ?? randomInt(1_000_000));

let node: RealNode;
before(async () => {
  node = await RealNode.start('kill');
});
afterEach(() => node.endAgents());
after(() => node?.destroy());

describe('an agent that is killed while a pod starts', () => {
  // One moment in each tenth of the time, so that every stage of a start gets its share.
  const random = seededRandom(seed);
  const delays = Array.from({ length: kills }, (_, index) => ((index + random.next()) * longestDelayMs) / kills);
  for (const [index, delay] of delays.entries()) {
    const moment = `${delay.toFixed(1)} ms after the manifest came (seed ${seed}, kill ${index + 1})`;
    test(`leaves one of everything to its successor: kill ${index + 1} of ${kills}`, async () => {
      const name = `pod-${index}`;
      const first = await node.healthyAgent();
      // Everything is seen to: the agent has read the folder, so the rename is what starts the pod.
      await node.readyFolder();
      node.put(name, idlePod(name, node.image, containers, 'sleep 0.1'));
      await clock.sleep(delay);
      first.kill('SIGKILL');
      await first.ended;
      const before = await node.running(name);

      await node.healthyAgent();
      await node.readyPod(name);
      const state = async (): Promise<unknown> => ({
        sandboxes: await node.sandboxes(name),
        containers: await node.containers(name),
      });
      await until(`there is one of everything, killed ${moment}`, () => hasOneOfEverything(name), { state });
      const running = await node.running(name);
      for (const [container, id] of before) {
        // An init container that was running has ended since and may have been cleaned up; the others run on.
        if (containers.includes(container)) assert.equal(running.get(container), id, `${container}, killed ${moment}`);
      }
      const statuses = (await node.pod(name))?.status?.containerStatuses ?? [];
      for (const status of statuses.filter((one) => before.has(one.name))) {
        assert.equal(status.restartCount, 0, `${status.name}, killed ${moment}`);
      }
      await node.remove(name);
      await until(`no file is left of ${name}, killed ${moment}`, () => filesOf(name).length === 0, {
        state: () => filesOf(name),
      });
    });
  }

  /** One sandbox, ready, and one container of each name in it, running; of the init container at most its remains. */
  async function hasOneOfEverything(name: string): Promise<boolean> {
    const sandboxes = await node.sandboxes(name);
    const seen = await node.containers(name);
    const regular = seen.filter((container) => container.name !== 'prepare');
    const names = regular.map((container) => container.name).toSorted();
    return (
      sandboxes.length === 1 &&
      sandboxes.every(({ ready }) => ready) &&
      names.join() === containers.join() &&
      regular.every(({ running }) => running) &&
      seen.every((container) => container.name !== 'prepare' || !container.running)
    );
  }

  /** Folders that pods have on this node: there is only ever one pod here. */
  function filesOf(name: string): readonly string[] {
    const logs = readdirSync(node.names.podLogs).filter((entry) => entry.includes(name));
    const pods = join(node.names.kubeletRoot, 'pods');
    return [...logs, ...(existsSync(pods) ? readdirSync(pods) : [])];
  }
});

describe('an agent that is restarted', () => {
  test(`leaves a running pod alone, ${restarts} times`, async () => {
    await node.healthyAgent();
    node.put('steady', idlePod('steady', node.image, containers, 'true'));
    await node.readyPod('steady');
    const first = await node.containers('steady');
    for (let round = 0; round < restarts; round++) {
      await node.stopAgents();
      const agent = node.agent();
      const seen: string[] = [];
      await until('the pod is ready again', async () => {
        const pod = await node.pod('steady');
        if (pod !== undefined) seen.push(`${pod.status?.phase} ${readyCondition(pod)}`);
        return readyCondition(pod) === 'True';
      });
      assert.ok(agent.running);
      // A pod whose containers have not been looked at yet is unknown, never unready.
      assert.deepEqual([...new Set(seen)].filter((look) => /False|Failed/.test(look)), [], seen.join(', '));
      assert.deepEqual(await node.containers('steady'), first);
      assert.ok((await node.sandboxes('steady')).length === 1);
    }
    await node.remove('steady');
  });
});
