import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TubeletError } from '../../src/base/errors.ts';
import type { Settings } from '../../src/config/index.ts';
import { stopsSlowly } from '../../src/testing/fake-cri/index.ts';
import { FakeLogind } from '../../src/testing/fake-logind.ts';
import { FakeSystemd } from '../../src/testing/fake-systemd.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { fakeMachine } from '../support/fake-platform.ts';
import { WholeAgent } from '../support/whole-agent.ts';

const config: Partial<Settings['config']> = {
  shutdownGracePeriodByPodPriority: [
    { priority: 0, shutdownGracePeriodSeconds: 10 },
    { priority: 1_000, shutdownGracePeriodSeconds: 5 },
  ],
};
const names = ['one', 'two', 'three', 'four'];

/** A node whose machine cannot make up its mind, whose agent dies and whose API server and bus come and go. */
async function troubled(seed: number) {
  const random = seededRandom(seed);
  const logind = new FakeLogind();
  logind.configuredDelayMaxMs = () => 20_000;
  const machine = { ...fakeMachine({ cluster: true, seed }), systemd: { units: new FakeSystemd(), logind } };
  machine.cri.programs.forContainer('slow', stopsSlowly(3_000));
  const agent = new WholeAgent({ machine, cluster: true, config, seed });
  await agent.start();
  for (const [index, name] of names.entries()) {
    agent.bind(name, { priority: index * 500, containers: [aContainer(index % 2 === 0 ? 'slow' : 'main')] });
  }
  await agent.clock.advance(20_000);
  let goesDown = false;
  const steps: readonly (() => Promise<void> | void)[] = [
    () => logind.prepareForShutdown((goesDown = true)),
    () => logind.prepareForShutdown((goesDown = false)),
    async () => {
      await agent.kill();
      await agent.start();
    },
    () => agent.api.faults.away(),
    () => agent.api.faults.back(),
    () => logind.loseBus(),
    () => {
      logind.refuse = () => new TubeletError('unavailable', 'no bus');
    },
    () => {
      logind.refuse = () => undefined;
    },
  ];
  for (let step = 0; step < 12; step++) {
    await steps[Math.floor(random.next() * steps.length)]?.();
    await agent.clock.advance(Math.floor(random.next() * 4_000));
  }
  agent.api.faults.back();
  logind.refuse = () => undefined;
  return { agent, logind, goesDown };
}

describe('a shutdown among troubles', () => {
  for (let seed = 1; seed <= 25; seed++) {
    test(`seed ${seed}`, async () => {
      const { agent, logind, goesDown } = await troubled(seed);
      await agent.clock.advance(90_000);
      const running = agent.running();
      for (const name of names) {
        const { phase, reason } = agent.pod(name)?.status ?? {};
        const shown = `${phase} ${reason ?? ''}`.trim();
        assert.equal(shown, running.includes(name) ? 'Running' : 'Failed Terminated', name);
      }
      const ready = agent.node()?.status?.conditions?.find(({ type }) => type === 'Ready');
      assert.equal(ready?.status, goesDown ? 'False' : 'True');
      assert.equal(logind.locks.size, goesDown ? 0 : 1);
      if (goesDown) assert.deepEqual(running, []);
      agent.bind('late');
      await agent.clock.advance(10_000);
      assert.equal(agent.pod('late')?.status?.phase, goesDown ? 'Failed' : 'Running');
      await agent.stop();
      assert.equal(logind.watchers, 0);
    });
  }
});
