import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exitAfter } from '../../src/testing/fake-cri/index.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';

const absent = { image: 'localhost/absent:1' };

/** A pod that runs once gets no second sandbox. What was not over by then never will be, and the pod must say so. */
describe('a pod that runs once and loses its sandbox', () => {
  const cases = {
    'between its init container and the rest': {
      initContainers: [aContainer('done')],
      containers: [aContainer('main', absent)],
    },
    'while a sidecar waits for the rest': {
      initContainers: [aContainer('side', { restartPolicy: 'Always' })],
      containers: [aContainer('main', absent)],
    },
    'when one container is done and another was never started': {
      containers: [aContainer('done'), aContainer('main', absent)],
    },
  };
  for (const [when, spec] of Object.entries(cases)) {
    test(`${when} has failed`, async () => {
      const it = new AgentWorld();
      it.cri.programs.forContainer('done', exitAfter(0, 0));
      it.cri.faults.fail('pullImage', 'unavailable');
      await it.start();
      await it.manifests(aPod({ spec: { restartPolicy: 'Never', ...spec } }));
      await it.clock.advance(5_000);
      assert.equal(it.phase(), 'Pending');
      it.cri.killSandbox([...it.cri.state.sandboxes.keys()][0] ?? '');
      await it.clock.advance(40_000);
      assert.equal(it.phase(), 'Failed');
      assert.equal(it.verbs().filter((verb) => verb === 'runPodSandbox').length, 1);
      const calls = it.verbs().length;
      await it.clock.advance(300_000);
      assert.equal(it.verbs().length, calls, 'it is left alone');

      await it.stop();
      await it.start();
      await it.clock.advance(5_000);
      assert.equal(it.phase(), 'Failed');
      await it.stop();
    });
  }
});
