import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localAddresses4, defaultRoutes4, defaultRoutes6, lookupAddresses, readNodeNetwork } from './node-network.ts';

test('default routes of IPv4: only to everywhere, only those that are up', () => {
  const table = [
    'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
    'eth1\t00000000\t010200C0\t0002\t0\t0\t0\t00000000\t0\t0\t0',
    'eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0',
    'eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0',
    '',
  ].join('\n');
  assert.deepEqual(defaultRoutes4(table), [{ interface: 'eth0', family: 4 }]);
  assert.deepEqual(defaultRoutes4(''), []);
});

test('default routes of IPv6: the one of the loopback leads nowhere', () => {
  const zero = '0'.repeat(32);
  const gateway = 'fe800000000000000000000000000001';
  const table = [
    `${zero} 00 ${zero} 00 ${gateway} 00000400 00000001 00000000 00000003     eth0`,
    `20010db8000000000000000000000000 40 ${zero} 00 ${zero} 00000100 00000001 00000000 00000001     eth0`,
    `${zero} 00 ${zero} 00 ${zero} ffffffff 00000001 00000000 00200200       lo`,
    '',
  ].join('\n');
  assert.deepEqual(defaultRoutes6(table), [{ interface: 'eth0', family: 6 }]);
});

test('this machine has a loopback and knows its name', async () => {
  const { interfaces } = readNodeNetwork();
  assert.ok(interfaces.some(({ loopback, addresses }) => loopback && addresses.includes('127.0.0.1')));
  assert.ok((await lookupAddresses('127.0.0.1')).includes('127.0.0.1'));
});

test('addresses of this host, those of interfaces without a carrier among them', () => {
  const trie = `Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 10.95.14.0/24 2 0 2
        |-- 10.95.14.0
           /24 link UNICAST
        |-- 10.95.14.1
           /32 host LOCAL
        |-- 10.95.14.255
           /32 link BROADCAST
Local:
        |-- 10.95.14.1
           /32 host LOCAL
     |-- 127.0.0.1
        /32 host LOCAL
`;
  assert.deepEqual(localAddresses4(trie), ['10.95.14.1', '127.0.0.1']);
  assert.deepEqual(localAddresses4(''), []);
});
