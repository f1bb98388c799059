import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goldenPod, goldenSettings, loadGolden } from '../testing/golden.ts';
import { podHostname } from './hostname.ts';
import { hostNetworkHostsFile, podHostsFile } from './hosts-file.ts';

for (const name of ['plain', 'hostname-subdomain', 'host-aliases']) {
  test(`hosts file of ${name} as its container printed it`, () => {
    const record = loadGolden(name);
    const pod = goldenPod(record);
    const printed = record.logs['c']?.split('==hosts\n')[1]?.split('==resolv')[0];
    const names = podHostname(pod, { clusterDomain: goldenSettings.clusterDomain, allowOverride: false });
    assert.equal(podHostsFile(['{{podIP}}'], names, pod.spec.hostAliases), printed);
  });
}

test('two addresses, one line each', () => {
  const file = podHostsFile(['10.0.0.1', 'fd00::1'], { hostname: 'p', domain: '' });
  assert.ok(file.endsWith('\n10.0.0.1\tp\nfd00::1\tp\n'));
});

test('an alias without names', () => {
  const file = podHostsFile(['10.0.0.1'], { hostname: 'p', domain: '' }, [{ ip: '192.0.2.1' }]);
  assert.ok(file.endsWith('# Entries added by HostAliases.\n192.0.2.1\t\n'));
});

test('on the host network the file of the node is extended', () => {
  assert.equal(
    hostNetworkHostsFile('127.0.0.1 localhost\n', [{ ip: '192.0.2.1', hostnames: ['a', 'b'] }]),
    '# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost\n' +
      '\n# Entries added by HostAliases.\n192.0.2.1\ta\tb\n',
  );
});
