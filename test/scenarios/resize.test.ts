import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DesiredPod } from '../../src/model/desired-pod.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';

/** Containers are not resized in place yet: the status says so, and claims nothing that was not done. */
const asking = (cpu: string, generation: number): DesiredPod =>
  aPod({
    metadata: { generation },
    spec: { containers: [aContainer('main', { resources: { requests: { cpu }, limits: { cpu } } })] },
  });

test('a running pod whose resources are changed stays as it is, and its status tells that', async () => {
  const it = new AgentWorld();
  await it.start();
  await it.manifests(asking('500m', 1));
  await it.manifests(asking('2', 2));
  await it.clock.advance(5_000);
  assert.deepEqual(it.containers(), ['main#0 running']);
  const told = it.lastStatus();
  const [main] = told.containerStatuses ?? [];
  assert.deepEqual(main?.allocatedResources, { cpu: '500m' });
  assert.deepEqual(main?.resources?.requests, { cpu: '500m' });
  const pending = told.conditions?.find(({ type }) => type === 'PodResizePending');
  assert.equal(pending?.reason, 'Infeasible');

  // The next instance is made with what was promised, too.
  it.cri.killContainer(it.cri.containerNamed('main')?.id ?? '');
  await it.clock.advance(30_000);
  assert.ok(it.containers().includes('main#1 running'));
  const quotas = [...it.cri.state.containers.values()].map(({ config }) => config.linux?.resources?.cpuQuota);
  assert.deepEqual(new Set(quotas), new Set([50_000n]));
  assert.deepEqual(it.lastStatus().containerStatuses?.[0]?.allocatedResources, { cpu: '500m' });

  await it.manifests(asking('500m', 3));
  await it.clock.advance(5_000);
  assert.equal(
    it.lastStatus().conditions?.find(({ type }) => type === 'PodResizePending'),
    undefined,
  );
  await it.stop();
});
