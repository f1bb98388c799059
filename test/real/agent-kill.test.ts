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
    const moment = `${delay.toFixed(1)} ms after the manifest came`;
    test(`leaves one of everything to its successor: kill ${index + 1} of ${kills}, seed ${seed}`, async () => {
      const name = `pod-${index}`;
      const first = await node.workingAgent();
      node.put(name, idlePod(name, node.image, containers, 'sleep 0.1'));
      await clock.sleep(delay);
      first.kill('SIGKILL');
      await first.ended;
      const before = await node.runtime.running(name);

      await node.healthyAgent();
      await node.readyPod(name);
      const state = async (): Promise<unknown> => ({
        sandboxes: await node.runtime.sandboxes(name),
        containers: await node.runtime.containers(name),
      });
      await until(`there is one of everything, killed ${moment}`, () => hasOneOfEverything(name), { state });
      // What ran at the kill runs on, untouched: no other instance of it was ever made.
      const seen = await node.runtime.containers(name);
      for (const [container, id] of before) {
        const instances = seen.filter((one) => one.name === container);
        const running = containers.includes(container);
        assert.deepEqual(instances, [{ id, name: container, attempt: 0, running }], `killed ${moment}`);
      }
      await node.remove(name);
      await until(`no file is left of ${name}, killed ${moment}`, () => filesOf(name).length === 0, {
        state: () => filesOf(name),
      });
    });
  }

  /**
   * One sandbox, ready, and one running container of each name. A container whose start was broken off by the kill is
   * dead and may lie beside the one that runs.
   */
  async function hasOneOfEverything(name: string): Promise<boolean> {
    const sandboxes = await node.runtime.sandboxes(name);
    const running = (await node.runtime.containers(name)).filter((container) => container.running);
    const names = running.map((container) => container.name).toSorted();
    return sandboxes.length === 1 && sandboxes.every(({ ready }) => ready) && names.join() === containers.join();
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
    let agent = await node.healthyAgent();
    node.put('steady', idlePod('steady', node.image, containers, 'true'));
    await node.readyPod('steady');
    const first = await node.runtime.containers('steady');
    for (let round = 0; round < restarts; round++) {
      agent.kill('SIGTERM');
      await agent.ended;
      // So talkative that it tells when it has looked at the runtime.
      agent = node.agent(['--v=6']);
      const seen: string[] = [];
      const look = async (): Promise<string | undefined> => {
        const pod = await node.pod('steady');
        if (pod !== undefined) seen.push(`${pod.status?.phase} ${readyCondition(pod)}`);
        return readyCondition(pod);
      };
      await until('the pod is ready again', async () => (await look()) === 'True', {
        state: () => agent.text.slice(-2_000),
      });
      const { length } = agent.text;
      const relisted = (): boolean => /"Runtime call done" verb="listContainers"/.test(agent.text.slice(length));
      await until('the agent has looked at the runtime once more', async () => (await look()) && relisted());
      await look();
      // Before its containers have been looked at a pod is pending, but never unready, and once ready it stays so.
      assert.match(seen.join(', '), /^(Pending undefined, )*Running True(, Running True)*$/);
      assert.deepEqual(await node.runtime.containers('steady'), first);
      assert.equal((await node.runtime.sandboxes('steady')).length, 1);
    }
    await node.remove('steady');
  });
});
