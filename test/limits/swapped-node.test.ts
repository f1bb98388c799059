import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { Node, PodSpec } from '../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { until } from '../support/real-wait.ts';
import { LimitNode, nodeName } from './support/limit-node.ts';

const gpu = 'vendor.example/gpu';
const nodes: LimitNode[] = [];
after(async () => {
  for (const node of nodes) await node.destroy();
});

/** A Node as a Go kubelet with a device plugin left it, and a program that starts in its place. */
async function takeOver(name: string, registered: readonly string[] | undefined): Promise<LimitNode> {
  const node = await LimitNode.create(name);
  nodes.push(node);
  if (registered !== undefined) {
    const devices = Object.fromEntries(registered.map((resource) => [resource, ['one', 'two']]));
    mkdirSync(join(node.rootDir, 'device-plugins'));
    const text = JSON.stringify({ Data: { PodDeviceEntries: null, RegisteredDevices: devices }, Checksum: 1 });
    writeFileSync(join(node.rootDir, 'device-plugins/kubelet_internal_checkpoint'), text);
  }
  const amounts = { cpu: '4', memory: '8Gi', pods: '110', [gpu]: '2' };
  node.api.objects.put<Node>({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: nodeName },
    spec: {},
    status: { capacity: amounts, allocatable: amounts },
  });
  await node.startAgent();
  return node;
}

async function failed(node: LimitNode, name: string, spec: Partial<PodSpec>): Promise<readonly unknown[]> {
  node.schedule(name, { restartPolicy: 'Never', ...spec });
  await until(`${name} is refused`, () => node.pod(name)?.status?.phase === 'Failed', {
    timeoutMs: 30_000,
    state: () => node.pod(name)?.status,
  });
  const { reason, message } = node.pod(name)?.status ?? {};
  return [reason, message];
}

// A pod that asked for a device started without it.
describe('in the place of a Go kubelet with a device plugin', () => {
  for (const [what, registered] of [
    ['whose checkpoint names the device', [gpu]],
    ['that left no checkpoint', undefined],
  ] as const) {
    test(`${what}, the node promises no devices, and pods that want one are refused`, async () => {
      const node = await takeOver(`swapped-${registered === undefined ? 'bare' : 'known'}`, registered);
      const amounts = await until('the node tells that it has none', () => {
        const { capacity, allocatable } =
          node.api.objects.find<Node>(apiResources.nodes, { namespace: '', name: nodeName })?.status ?? {};
        return capacity?.[gpu] === '0' && { capacity, allocatable };
      });
      assert.equal(amounts.allocatable?.[gpu], '0');
      assert.notEqual(amounts.capacity?.['cpu'], '0');
      const resources = { requests: { [gpu]: '1' }, limits: { [gpu]: '1' } };
      const [reason] = await failed(node, 'wants-device', { containers: [aContainer('main', { resources })] });
      assert.equal(reason, `OutOf${gpu}`);
      const claims = await failed(node, 'wants-claim', {
        resourceClaims: [{ name: 'card', resourceClaimName: 'any' }],
        containers: [aContainer('main', { resources: { claims: [{ name: 'card' }] } })],
      });
      assert.equal(claims[0], 'UnexpectedAdmissionError');
      assert.match(String(claims[1]), /resource claims \(card\), which this kubelet cannot prepare/);
      // Neither was ever made.
      assert.deepEqual([...node.cri.state.containers.values()], []);
    });
  }
});
