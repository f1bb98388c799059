import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseSubnet, parseCidr, subnetFromCidr } from './subnet.ts';

const cases: readonly { name: string; id: string; taken: string[]; want: string | undefined }[] = [
  { name: 'nothing taken', id: '00000000', taken: [], want: '10.64.0.0/24' },
  { name: 'own starting place', id: '00000105', taken: [], want: '10.65.5.0/24' },
  { name: 'the default route takes nothing', id: '00000000', taken: ['default', '0.0.0.0/0'], want: '10.64.0.0/24' },
  { name: 'a larger route', id: '00000000', taken: ['10.64.0.0/16'], want: '10.65.0.0/24' },
  { name: 'a smaller route', id: '00000000', taken: ['10.64.0.128/25'], want: '10.64.1.0/24' },
  { name: 'a single address', id: '00000000', taken: ['10.64.0.7'], want: '10.64.1.0/24' },
  {
    name: 'a neighbour is no collision',
    id: '00000000',
    taken: ['10.63.255.0/24', '10.64.1.0/24'],
    want: '10.64.0.0/24',
  },
  { name: 'goes on from the beginning', id: '00003fff', taken: ['10.127.255.0/24'], want: '10.64.0.0/24' },
  { name: 'all of 10 taken', id: '12345678', taken: ['10.0.0.0/8'], want: undefined },
  { name: 'strangers are ignored', id: '00000000', taken: ['fd00::/8', 'x', '1.2.3.400'], want: '10.64.0.0/24' },
];

for (const { name, id, taken, want } of cases) {
  test(`chooseSubnet: ${name}`, () => assert.equal(chooseSubnet(id, taken)?.cidr, want));
}

test('the gateway is the first address', () => {
  assert.deepEqual(chooseSubnet('00000000', []), { cidr: '10.64.0.0/24', gateway: '10.64.0.1', prefix: 24 });
  assert.deepEqual(subnetFromCidr('10.70.3.0/24'), { cidr: '10.70.3.0/24', gateway: '10.70.3.1', prefix: 24 });
  assert.equal(subnetFromCidr('nonsense'), undefined);
});

test('parseCidr takes the range that an address with a prefix lies in', () => {
  assert.deepEqual(parseCidr('10.0.0.77/24'), parseCidr('10.0.0.0/24'));
});
