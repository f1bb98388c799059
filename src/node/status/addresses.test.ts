import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node } from '../../gen/kubernetes/types.ts';
import type { HostNetwork } from '../../model/host-facts.ts';
import { goldenInputs, goldenSettings } from '../../testing/node-world.ts';
import type { NodeSettings } from '../settings.ts';
import { needsLookup, providedIpAnnotation, setAddresses } from './addresses.ts';
import type { SetterOutcome } from './setter.ts';

const network: HostNetwork = {
  interfaces: [
    { name: 'lo', loopback: true, addresses: ['127.0.0.1', '::1'] },
    { name: 'eth0', loopback: false, addresses: ['fe80::9', '10.0.0.5', '2001:db8::5'] },
    { name: 'eth1', loopback: false, addresses: ['10.1.0.5', '2001:db8:1::5'] },
  ],
  defaultRoutes: [
    { interface: 'eth0', family: 4 },
    { interface: 'eth1', family: 6 },
  ],
};

interface Case {
  readonly name?: string;
  readonly ips?: readonly string[];
  readonly resolved?: readonly string[];
  readonly external?: boolean;
  readonly network?: HostNetwork;
  readonly node?: Node;
}

function run({ name = 'n1', ips = [], resolved = [], external = false, node = {}, ...rest }: Case): SetterOutcome {
  const settings: NodeSettings = { ...goldenSettings, nodeName: name, nodeIps: ips, externalCloudProvider: external };
  return setAddresses(node, { ...goldenInputs, settings, resolved, network: rest.network ?? network }, 'now');
}

const spelled = ({ node, problem }: SetterOutcome): string =>
  problem ?? (node.status?.addresses ?? []).map(({ type, address }) => `${type}=${address}`).join(' ');

const withoutRoutes = { ...network, defaultRoutes: [] };
const routed: HostNetwork = {
  interfaces: [
    { name: 'lo', loopback: true, addresses: ['127.0.0.1', '10.9.9.9'] },
    { name: 'swp1', loopback: false, addresses: ['169.254.1.1'] },
  ],
  defaultRoutes: [{ interface: 'swp1', family: 4 }],
};

const cases: readonly (readonly [title: string, given: Case, expected: string])[] = [
  ['by flag', { ips: ['10.1.0.5'] }, 'InternalIP=10.1.0.5 Hostname=n1'],
  ['by flag, in another spelling', { ips: ['2001:DB8:0::5'] }, 'InternalIP=2001:db8::5 Hostname=n1'],
  [
    'one of each family',
    { ips: ['2001:db8::5', '10.0.0.5'] },
    'InternalIP=2001:db8::5 InternalIP=10.0.0.5 Hostname=n1',
  ],
  ['the name is an address', { name: '10.7.7.7' }, 'InternalIP=10.7.7.7 Hostname=10.7.7.7'],
  ['the name stands for one', { resolved: ['10.1.0.5'] }, 'InternalIP=10.1.0.5 Hostname=n1'],
  ['not for that of a stranger', { resolved: ['10.99.0.1'] }, 'InternalIP=10.0.0.5 Hostname=n1'],
  ['nor a loopback', { resolved: ['127.0.1.1'] }, 'InternalIP=10.0.0.5 Hostname=n1'],
  ['IPv4 goes first', { resolved: ['2001:db8::5', '10.1.0.5'] }, 'InternalIP=10.1.0.5 Hostname=n1'],
  ['IPv6 when there is no other', { resolved: ['2001:db8::5'] }, 'InternalIP=2001:db8::5 Hostname=n1'],
  ['IPv6 when wanted', { ips: ['::'], resolved: ['10.1.0.5', '2001:db8::5'] }, 'InternalIP=2001:db8::5 Hostname=n1'],
  ['the way out', {}, 'InternalIP=10.0.0.5 Hostname=n1'],
  ['the way out of IPv4', { ips: ['0.0.0.0'] }, 'InternalIP=10.0.0.5 Hostname=n1'],
  ['the way out of IPv6', { ips: ['::'] }, 'InternalIP=2001:db8:1::5 Hostname=n1'],
  ['an address lent by the loopback', { network: routed }, 'InternalIP=10.9.9.9 Hostname=n1'],
  ['no way out', { network: withoutRoutes }, "can't get ip address of node n1. error: no default routes found"],
  ['loopback', { ips: ['127.0.0.1'] }, "failed to validate nodeIP: nodeIP can't be loopback address"],
  ['multicast', { ips: ['224.0.0.1'] }, "failed to validate nodeIP: nodeIP can't be a multicast address"],
  ['link-local', { ips: ['fe80::9'] }, "failed to validate nodeIP: nodeIP can't be a link-local unicast address"],
  [
    'not here',
    { ips: ['10.0.0.5', '2001:db8::dead'] },
    'failed to validate secondaryNodeIP: node IP: "2001:db8::dead" not found in the host\'s network interfaces',
  ],
];

describe('addresses', () => {
  for (const [title, given, expected] of cases) {
    test(title, () => assert.equal(spelled(run(given)), expected));
  }

  test('a problem keeps the known addresses', () => {
    const node = { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.5' }] } };
    assert.equal(run({ ips: ['10.3.3.3'], node }).node, node);
  });
});

describe('addresses with an external cloud provider', () => {
  const addresses = [{ type: 'ExternalIP', address: '203.0.113.1' }];

  test('its own addresses count, and it gets the choice of the operator', () => {
    const { node } = run({ external: true, ips: ['10.0.0.5', '2001:db8::5'], node: { status: { addresses } } });
    assert.deepEqual(node.status?.addresses, addresses);
    assert.deepEqual(node.metadata?.annotations, { [providedIpAnnotation]: '10.0.0.5,2001:db8::5' });
  });

  test('before it has spoken', () => {
    assert.equal(spelled(run({ external: true })), 'Hostname=n1');
    assert.equal(spelled(run({ external: true, ips: ['10.0.0.5'] })), 'InternalIP=10.0.0.5 Hostname=n1');
    assert.equal(spelled(run({ external: true, ips: ['::'] })), 'InternalIP=2001:db8:1::5 Hostname=n1');
  });

  test('a hint that no longer holds is taken back', () => {
    const node = { metadata: { annotations: { [providedIpAnnotation]: '10.0.0.5', other: 'x' } } };
    assert.deepEqual(run({ node, ips: ['10.0.0.5'] }).node.metadata?.annotations, { other: 'x' });
    assert.deepEqual(run({ node, external: true }).node.metadata?.annotations, { other: 'x' });
  });
});

test('the name service is asked only where it counts', () => {
  const asks = (given: Partial<NodeSettings>): boolean => needsLookup({ ...goldenSettings, ...given });
  assert.equal(asks({}), true);
  assert.equal(asks({ nodeIps: ['::'] }), true);
  assert.equal(asks({ nodeIps: ['10.0.0.5'] }), false);
  assert.equal(asks({ nodeName: '10.0.0.5' }), false);
  assert.equal(asks({ externalCloudProvider: true }), false);
});
