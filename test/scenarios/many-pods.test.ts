import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '../../src/gen/kubernetes/types.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { WholeAgent } from '../support/whole-agent.ts';

/** As many of the API server, and as many of the manifests folder. */
const each = 500;

/** A pod of which every part of the agent remembers something: volumes, a probe, requests and limits. */
const spec: Partial<PodSpec> = {
  containers: [
    aContainer('main', {
      resources: { requests: { cpu: '1m', memory: '1Mi' }, limits: { memory: '2Mi' } },
      readinessProbe: { exec: { command: ['true'] }, periodSeconds: 3_600 },
      volumeMounts: [
        { name: 'scratch', mountPath: '/scratch' },
        { name: 'labels', mountPath: '/labels' },
      ],
    }),
  ],
  volumes: [
    { name: 'scratch', emptyDir: {} },
    { name: 'labels', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
  ],
  terminationGracePeriodSeconds: 1,
};

test('a thousand pods run, and nothing is left of them anywhere', async () => {
  const agent = new WholeAgent({ cluster: true, flags: ['--max-pods=1200'] });
  await agent.start();
  await agent.clock.advance(15_000);
  const names = Array.from({ length: each }, (_, index) => `pod-${index}`);
  for (const name of names) {
    agent.bind(`api-${name}`, spec);
    agent.manifest(name, spec);
  }
  await agent.clock.advance(60_000);
  assert.equal(agent.running().length, 2 * each);
  const remembered = agent.remembered();
  for (const state of ['desired', 'observed', 'statuses', 'volumes', 'probes', 'pod-cgroups', 'status-writer'])
    assert.equal(remembered[state], 2 * each, `${state}: ${JSON.stringify(remembered)}`);

  for (const name of names) {
    agent.delete(`api-${name}`);
    agent.removeManifest(name);
  }
  await agent.clock.advance(120_000);
  assert.deepEqual(agent.running(), []);
  assert.deepEqual(agent.remembered(), {});
  const { cri, files, cgroups } = agent.machine;
  assert.deepEqual([cri.state.sandboxes.size, cri.state.containers.size], [0, 0]);
  assert.deepEqual([await files.list('/var/lib/kubelet/pods'), files.mounts.size], [[], 0]);
  assert.deepEqual(
    [...cgroups.groups.keys()].filter((path) => path.includes('/pod')),
    [],
  );
  await agent.stop();
});
