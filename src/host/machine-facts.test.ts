import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { passingFolder } from '../testing/recorded-tree.ts';
import { readMachineFacts } from './machine-facts.ts';

const machine = { memoryBytes: 25_276_518_400n, swapBytes: 0n, cpus: 8 };

function processors(places: readonly (readonly [socket: number, core: number])[]): string {
  const folder = passingFolder('cpu');
  mkdirSync(join(folder, 'cpufreq'));
  for (const [index, [socket, core]] of places.entries()) {
    const topology = join(folder, `cpu${index}`, 'topology');
    mkdirSync(topology, { recursive: true });
    writeFileSync(join(topology, 'physical_package_id'), `${socket}\n`);
    writeFileSync(join(topology, 'core_id'), `${core}\n`);
  }
  return folder;
}

test('two sockets of two cores of two threads', async () => {
  const places = [0, 1].flatMap((socket) => [0, 1, 0, 1].map((core) => [socket, core] as const));
  const facts = await readMachineFacts({ machine, processors: processors(places), read: async () => 'id\n' });
  assert.equal(facts.cores, 8);
  assert.equal(facts.physicalCores, 4);
  assert.equal(facts.sockets, 2);
  assert.equal(facts.memoryBytes, 25_276_518_400);
  assert.equal(facts.machineId, 'id');
});

test('a machine without topology of its processors', async () => {
  const facts = await readMachineFacts({ machine, processors: processors([]) });
  assert.equal(facts.physicalCores, 8);
  assert.equal(facts.sockets, 1);
  assert.notEqual(facts.kernelVersion, '');
});
