import assert from 'node:assert/strict';
import { release, tmpdir } from 'node:os';
import { test } from 'node:test';
import { systemClock } from '../base/system-clock.ts';
import { readMachineInfo } from './machine-info.ts';
import { nodeHost, readKernelFacts, readProgramStart } from './node-host.ts';

test('this machine, as a node is made from it', async () => {
  const machine = readMachineInfo();
  const host = nodeHost({ machine, rootDir: tmpdir(), machineIdFiles: '/gone', bootIdFile: '/gone' });
  const { machineId, kernelVersion } = await host.identity();
  assert.deepEqual([machineId, kernelVersion], ['', release()]);
  assert.ok((await host.rootFsBytes()) > 0n);
  assert.equal(host.swapBytes(), machine.swapBytes);
  assert.equal(host.capacity()['memory'], String(machine.memoryBytes));
  assert.ok(host.network().interfaces.length > 0);
});

test('the kernel, and when this program began', () => {
  const { architecture, kernelVersion } = readKernelFacts();
  assert.match(architecture, /^[a-z0-9]+$/);
  assert.equal(kernelVersion, release());
  const clock = systemClock();
  const { upSeconds, startedAt } = readProgramStart(clock);
  assert.ok(upSeconds >= 0);
  assert.ok(startedAt <= clock.monotonic());
});
