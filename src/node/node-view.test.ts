import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../gen/kubernetes/types.ts';
import { NodeView } from './node-view.ts';

const address = (type: string, text: string) => ({ type, address: text });

test('the API server’s word before ours, ours where it has none', () => {
  const state: { node?: Node } = {};
  const mirror = { get: ({ name }: { name: string }) => (name === 'n' ? state.node : undefined) };
  const view = new NodeView({ nodeName: 'n', mirror, devices: {}, outwardAddresses: () => ['10.0.0.9'] });
  assert.deepEqual([view.labels(), view.taints(), view.allocatable(), view.hostIps()], [{}, [], {}, ['10.0.0.9']]);
  view.setOwn({
    metadata: { labels: { a: 'ours' } },
    status: { allocatable: { cpu: '1' }, addresses: [address('InternalIP', '10.0.0.1')] },
  });
  assert.equal(view.labels()['a'], 'ours');
  state.node = { metadata: { labels: { a: 'theirs' } }, spec: { taints: [{ key: 't', effect: 'NoSchedule' }] } };
  assert.equal(view.labels()['a'], 'theirs');
  assert.equal(view.taints()[0]?.key, 't');
  // A node that was made without a status has none of these.
  assert.deepEqual(view.allocatable(), { cpu: '1' });
  assert.deepEqual(view.hostIps(), ['10.0.0.1']);
});

test('host addresses: internal ones first, one of each family', () => {
  const view = new NodeView({ nodeName: 'n', mirror: undefined, devices: {}, outwardAddresses: () => [] });
  const addresses = [
    address('Hostname', 'n'),
    address('ExternalIP', '2001:db8::1'),
    address('InternalIP', '10.0.0.1'),
    address('InternalIP', '10.0.0.2'),
  ];
  view.setOwn({ status: { addresses } });
  assert.deepEqual(view.hostIps(), ['10.0.0.1', '2001:db8::1']);
});

test('devices are those of this agent, whatever the API server has of an earlier kubelet', () => {
  const node: Node = { status: { allocatable: { cpu: '1', 'example.com/gpu': '2' } } };
  const devices = { 'example.com/gpu': '0' };
  const view = new NodeView({ nodeName: 'n', mirror: { get: () => node }, devices, outwardAddresses: () => [] });
  assert.deepEqual(view.allocatable(), { cpu: '1', 'example.com/gpu': '0' });
});
