import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressKey } from './address-key.ts';

test('what counts as one address', () => {
  const table = [
    ['10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['::FFFF:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
    ['', ''],
  ] as const;
  for (const [address, key] of table) assert.equal(addressKey(address), key, address);
});
