import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '../../src/gen/kubernetes/types.ts';
import { exitAfter, failsToStart, ignoresTerm } from '../../src/testing/fake-cri/index.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { WholeAgent } from '../support/whole-agent.ts';

const main = (more: Parameters<typeof aContainer>[1]): Partial<PodSpec> => ({ containers: [aContainer('main', more)] });

/** Pods that come to every end there is. */
const pods: Readonly<Record<string, Partial<PodSpec>>> = {
  runs: {},
  crashes: { containers: [aContainer('crashing')] },
  ends: { containers: [aContainer('ending')], restartPolicy: 'Never' },
  'fails-to-start': { containers: [aContainer('broken')] },
  'ignores-its-end': { containers: [aContainer('stubborn')], terminationGracePeriodSeconds: 5 },
  'has-no-image': main({ image: 'registry.test/nothing:1', imagePullPolicy: 'Always' }),
  'is-too-large': main({ resources: { requests: { cpu: '100' } } }),
  'wants-another-node': { nodeSelector: { disk: 'ssd' } },
  'wants-a-configmap': main({ envFrom: [{ configMapRef: { name: 'missing' } }] }),
  'waits-for-a-volume': { volumes: [{ name: 'config', configMap: { name: 'missing' } }] },
  'waits-for-a-claim': { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'missing' } }] },
  'wants-a-class': { runtimeClassName: 'missing' },
  'has-users-of-its-own': { hostUsers: false },
  'has-init-containers': { initContainers: [aContainer('prepare'), aContainer('proxy', { restartPolicy: 'Always' })] },
  'is-never-live': main({ livenessProbe: { exec: { command: ['false'] }, periodSeconds: 1, failureThreshold: 1 } }),
};

for (const restart of [undefined, 'stop', 'kill'] as const) {
  const how = restart === undefined ? '' : `, over a ${restart} of the agent too`;
  test(`whatever becomes of a pod, nothing of it is remembered when it is gone${how}`, async () => {
    const agent = new WholeAgent({ cluster: true });
    const { cri } = agent.machine;
    cri.programs.forContainer('crashing', exitAfter(1_000, 1));
    cri.programs.forContainer('ending', exitAfter(5_000, 0));
    cri.programs.forContainer('prepare', exitAfter(1_000, 0));
    cri.programs.forContainer('broken', failsToStart('no such file'));
    cri.programs.forContainer('stubborn', ignoresTerm());
    await agent.start();
    await agent.clock.advance(15_000);
    for (const [name, spec] of Object.entries(pods)) {
      agent.bind(`api-${name}`, spec);
      agent.manifest(name, spec);
    }
    await agent.clock.advance(60_000);
    const seen = new Set(Object.keys(pods).map((name) => agent.pod(`api-${name}`)?.status?.phase ?? ''));
    assert.deepEqual([...seen].toSorted(), ['Failed', 'Pending', 'Running', 'Succeeded']);
    if (restart !== undefined) {
      await agent[restart]();
      await agent.start();
    }
    for (const name of Object.keys(pods)) {
      agent.delete(`api-${name}`);
      agent.removeManifest(name);
    }
    await agent.clock.advance(300_000);
    assert.deepEqual(agent.remembered(), {});
    assert.deepEqual([cri.state.sandboxes.size, cri.state.containers.size], [0, 0]);
    assert.deepEqual(await agent.machine.files.list('/var/lib/kubelet/pods'), []);
    assert.deepEqual(
      Object.keys(pods).flatMap((name) => agent.pod(`api-${name}`) ?? []),
      [],
    );
    await agent.stop();
  });
}
