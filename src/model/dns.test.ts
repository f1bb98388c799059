import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../base/ids.ts';
import type { PodSpec } from '../gen/kubernetes/types.ts';
import { parseResolvConf, podDns, type DnsInput } from './dns.ts';

const hostDns = { servers: ['192.0.2.53'], searches: ['corp.example'], options: ['timeout:1'] };
const cluster = ['ns.svc.cluster.local', 'svc.cluster.local', 'cluster.local'];

function dns(spec: Partial<PodSpec>, overrides: Partial<DnsInput> = {}) {
  return podDns({
    pod: { name: 'p', namespace: 'ns', uid: podUid('u'), spec: { containers: [], ...spec } },
    clusterDns: ['10.96.0.10'],
    clusterDomain: 'cluster.local',
    resolvConf: '/etc/resolv.conf',
    hostDns,
    ...overrides,
  });
}

test('parsing', () => {
  const text = [
    '# nameserver 192.0.2.1',
    'nameserver 192.0.2.2',
    ' nameserver\t192.0.2.3 ',
    'nameserver',
    'search old.example',
    'search a.example. . b.example',
    'options ndots:2 rotate',
    'options ndots:3',
    'domain ignored.example',
  ].join('\n');
  assert.deepEqual(parseResolvConf(text), {
    servers: ['192.0.2.2', '192.0.2.3'],
    searches: ['a.example', 'b.example'],
    options: ['ndots:3', 'rotate'],
  });
  assert.deepEqual(parseResolvConf(''), { servers: [], searches: [], options: [] });
});

test('policies', () => {
  const clusterFirst = { servers: ['10.96.0.10'], searches: [...cluster, 'corp.example'], options: ['ndots:5'] };
  assert.deepEqual(dns({}).config, clusterFirst);
  assert.deepEqual(dns({ dnsPolicy: 'ClusterFirst', hostNetwork: true }).config, hostDns);
  assert.deepEqual(dns({ dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }).config, clusterFirst);
  assert.deepEqual(dns({ dnsPolicy: 'Default' }).config, hostDns);
  assert.deepEqual(dns({ dnsPolicy: 'None' }).config, { servers: [], searches: [], options: [] });
});

test('without cluster DNS the host answers, and the pod gets an event', () => {
  const { config, events } = dns({}, { clusterDns: [] });
  assert.deepEqual(config, hostDns);
  assert.deepEqual(events, [
    {
      reason: 'MissingClusterDNS',
      message:
        'pod: "p_ns(u)". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" ' +
        'policy. Falling back to "Default" policy.',
    },
  ]);
});

test('the message names the policy that could not be kept, also with the host network', () => {
  const { events } = dns({ dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }, { clusterDns: [] });
  assert.match(events[0]?.message ?? '', /using "ClusterFirst" policy/);
  assert.deepEqual(dns({ hostNetwork: true }, { clusterDns: [] }).events, []);
});

test('an unknown policy is that of the cluster', () => {
  assert.deepEqual(dns({ dnsPolicy: 'Whatever' }).config.servers, ['10.96.0.10']);
});

test('the host configuration stays as it is where the pod adds nothing', () => {
  const twice = { servers: ['192.0.2.1', '192.0.2.1'], searches: ['a', 'a'], options: ['x:1', 'x:2'] };
  assert.deepEqual(dns({ dnsPolicy: 'Default' }, { hostDns: twice }).config, twice);
  assert.deepEqual(dns({ dnsPolicy: 'Default', dnsConfig: {} }, { hostDns: twice }).config, {
    servers: ['192.0.2.1'],
    searches: ['a'],
    options: ['x:2'],
  });
});

test('the list is cut before domains that are too long are left out', () => {
  const searches = Array.from({ length: 33 }, (_, index) => (index === 0 ? 'x'.repeat(254) : `d${index}`));
  const { config, events } = dns({ dnsPolicy: 'None', dnsConfig: { searches } });
  assert.deepEqual(config.searches, searches.slice(1, 32));
  assert.equal(events.length, 1);
});

test('without a host configuration no server answers', () => {
  const none = { resolvConf: '' };
  assert.deepEqual(dns({ dnsPolicy: 'Default' }, none).config, {
    servers: ['127.0.0.1'],
    searches: ['.'],
    options: [],
  });
  assert.deepEqual(dns({ dnsPolicy: 'Default' }, { ...none, hostIps: ['fd00::2', '192.0.2.9'] }).config.servers, [
    '::1',
    '127.0.0.1',
  ]);
  assert.deepEqual(dns({}, none).config.searches, cluster);
});

test('the pod adds its own, without repeating, and its options win', () => {
  const dnsConfig = {
    nameservers: ['10.96.0.10', '192.0.2.1'],
    searches: ['cluster.local', 'mine.example'],
    options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
  };
  assert.deepEqual(dns({ dnsConfig }).config, {
    servers: ['10.96.0.10', '192.0.2.1'],
    searches: [...cluster, 'corp.example', 'mine.example'],
    options: ['ndots:2', 'edns0'],
  });
});

test('too much is cut and reported', () => {
  const nameservers = ['1', '2', '3', '4'].map((digit) => `192.0.2.${digit}`);
  const searches = Array.from({ length: 40 }, (_, index) => `d${index}.example`);
  const { config, events } = dns({ dnsPolicy: 'None', dnsConfig: { nameservers, searches } });
  assert.deepEqual(config.servers, nameservers.slice(0, 3));
  assert.deepEqual(config.searches, searches.slice(0, 32));
  assert.deepEqual(
    events.map(({ reason }) => reason),
    ['DNSConfigForming', 'DNSConfigForming'],
  );
  assert.equal(
    events[0]?.message,
    'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ' +
      '192.0.2.1 192.0.2.2 192.0.2.3',
  );
});
