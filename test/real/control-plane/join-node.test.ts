import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { FileLock } from '../../../src/host/index.ts';
import type { Pod } from '../../../src/gen/kubernetes/types.ts';
import { idle, podOf, shell } from '../../support/real-pods.ts';
import { readyCondition } from '../../support/real-node.ts';
import { clock, until } from '../../support/real-wait.ts';
import { goKubeletTurn } from './go-kubelet-turn.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { joinNode, type JoinedNode } from './join-node.ts';

let turn: FileLock | undefined;
let plane: ControlPlane;
let node: JoinedNode;
before(async () => {
  turn = await goKubeletTurn();
  plane = await startControlPlane({ signingDuration: '5m' });
  node = await joinNode(plane, { agent: 'kubelet' });
});
after(async () => {
  await node?.destroy();
  await plane?.stop();
  await turn?.release();
});

const podNamed = async (name: string): Promise<Pod> =>
  JSON.parse(await plane.ask('get', 'pod', name, '--output=json')) as Pod;

async function ready(name: string): Promise<Pod> {
  const look = async (): Promise<Pod | false> => {
    const pod = await podNamed(name);
    return readyCondition(pod) === 'True' && pod;
  };
  return until(`pod ${name} is ready`, look, { timeoutMs: 60_000, state: async () => (await podNamed(name)).status });
}

describe('the yardstick: a Go kubelet as the node', () => {
  test('is of the same release, at the address of the bridge', async () => {
    const { status } = await node.ready();
    const version = JSON.parse(await plane.ask('version', '--output=json')) as Record<string, { gitVersion: string }>;
    assert.equal(status?.nodeInfo?.kubeletVersion, version['serverVersion']?.gitVersion);
    assert.deepEqual(status?.addresses, [
      { type: 'InternalIP', address: node.address },
      { type: 'Hostname', address: node.name },
    ]);
  });

  test('runs a pod that reaches the API server and that kubectl reaches', async () => {
    const call = 'wget -q -O - --no-check-certificate https://$(KUBERNETES_SERVICE_HOST)/readyz; echo';
    const spec = { terminationGracePeriodSeconds: 1, containers: [shell('main', node.image, `${call}; ${idle}`)] };
    const { code, stderr } = await plane.kubectl(['create', '--filename=-'], JSON.stringify(podOf('web', spec)));
    assert.equal(code, 0, stderr);
    const pod = await ready('web');
    assert.equal(pod.spec?.nodeName, node.name);
    const log = await until('the pod has called', async () => (await plane.ask('logs', 'web')).trim() || undefined);
    assert.equal(log, 'ok');
    assert.equal(await plane.ask('exec', 'web', '--', 'echo', 'heard'), 'heard\n');
  });

  test('another agent takes over what runs', async () => {
    const before = (await podNamed('web')).status?.containerStatuses?.[0]?.containerID;
    await node.stopAgent();
    node.start('kubelet');
    await node.ready();
    const { status } = await ready('web');
    assert.deepEqual(
      status?.containerStatuses?.map(({ containerID, restartCount }) => ({ containerID, restartCount })),
      [{ containerID: before, restartCount: 0 }],
    );
    await plane.ask('delete', 'pod', 'web', '--timeout=60s');
    assert.deepEqual(plane.auditForbidden(`system:node:${node.name}`), []);
  });
});

describe('a machine that is no node yet', () => {
  test('becomes one by its bootstrap kubeconfig, with a certificate of minutes', async () => {
    await node.destroy();
    node = await joinNode(plane, { agent: 'kubelet', name: 'newcomer', bootstrap: true });
    const pem = readFileSync(join(node.names.kubeletRoot, 'pki', 'kubelet-client-current.pem'), 'utf8');
    const { subject, validTo } = new X509Certificate(pem);
    assert.equal(subject, 'O=system:nodes\nCN=system:node:newcomer');
    const leftMs = Date.parse(validTo) - clock.now();
    assert.ok(leftMs > 0 && leftMs <= 5 * 60_000, `${leftMs} ms are left`);
    assert.deepEqual(plane.auditForbidden(), []);
  });
});
