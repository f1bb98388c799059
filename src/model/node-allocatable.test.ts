import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeAllocatable, nodeReservation, overReserved, reservationsOf } from './node-allocatable.ts';

const capacity = { cpu: '4', memory: '8Gi', pid: '32768', 'hugepages-2Mi': '64Mi' };

test('what is left is capacity less both reserves', () => {
  const reserved = reservationsOf({ cpu: '500m', memory: '1Gi' }, { cpu: '250m', pid: '768' }, '');
  assert.deepEqual(nodeAllocatable(capacity, reserved), {
    cpu: '3250m',
    memory: '7Gi',
    pid: '32k',
    'hugepages-2Mi': '64Mi',
  });
});

test('never less than nothing', () => {
  const reserved = reservationsOf({ memory: '9Gi' }, {}, '');
  assert.equal(nodeAllocatable(capacity, reserved)['memory'], '0');
  assert.deepEqual(overReserved(capacity, reserved, {}), [
    'Resource "memory" has a reservation of 9Gi but capacity of 8Gi. Expected capacity >= reservation.',
  ]);
});

test('all of it may be reserved', () => {
  assert.deepEqual(
    overReserved(capacity, reservationsOf({ cpu: '3' }, { cpu: '1', 'ephemeral-storage': '1Gi' }, ''), {}),
    [],
  );
});

test('what hard eviction keeps free is reserved too, of processes nothing', () => {
  const reserved = reservationsOf({ memory: '7Gi' }, { pid: '40000' }, '');
  const evictionHard = { 'memory.available': '25%', 'nodefs.available': '10%', 'imagefs.available': '15%' };
  const all = nodeReservation({ ...capacity, 'ephemeral-storage': '1000' }, reserved, evictionHard);
  assert.deepEqual(
    [...all].map(([name, amount]) => [name, amount.toString()]),
    [
      ['memory', '9Gi'],
      ['ephemeral-storage', '100'],
    ],
  );
  assert.equal(overReserved(capacity, reserved, evictionHard).length, 1);
});

test('CPUs reserved by number stand for both reserves of CPU', () => {
  assert.deepEqual(reservationsOf({ cpu: '3', memory: '1Gi' }, { cpu: '3', pid: '1' }, '0-1,4,1'), {
    kube: { memory: '1Gi' },
    system: { cpu: '3', pid: '1' },
  });
  assert.deepEqual(reservationsOf({}, {}, '7').system, { cpu: '1' });
});
