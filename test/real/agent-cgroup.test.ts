import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { cgroupHierarchies, readMachineInfo } from '../../src/host/index.ts';
import { processCgroupsIn } from '../../src/model/process-cgroups.ts';
import type { Summary } from '../../src/model/stats-summary.ts';
import { shapeRows } from '../../src/testing/parse-metrics.ts';
import { RealNode } from '../support/real-node.ts';

const { cgroupVersion } = readMachineInfo();
let node: RealNode;
let path: string;
let pid: string;

before(async () => {
  node = await RealNode.start('agent-cgroup');
  // Below the test's own cgroup, which goes with everything in it.
  path = `${node.names.cgroupRoot}/agent`;
  const agent = await node.workingAgent([`--kubelet-cgroups=${path}`]);
  pid = (await agent.said(/Starting kubelet.*pid=(\d+)/))[1] ?? '';
});
after(() => node?.destroy());

test('the agent runs in the cgroup that is configured, in every tree', () => {
  const own = processCgroupsIn(readFileSync(`/proc/${pid}/cgroup`, 'utf8'));
  const trees = cgroupHierarchies().filter(({ version }) => version === cgroupVersion);
  assert.ok(trees.length > 0);
  for (const { version, controllers } of trees) {
    assert.equal(own.get(version === 2 ? '' : (controllers[0] ?? '')), path, controllers.join());
  }
});

test('the summary tells what it uses as the system container kubelet, and pressure of it', async () => {
  const { node: told } = (await (await node.read('/stats/summary')).json()) as Summary;
  const kubelet = told.systemContainers?.find(({ name }) => name === 'kubelet');
  assert.ok((kubelet?.memory?.workingSetBytes ?? 0) > 1_000_000, JSON.stringify(told.systemContainers));
  assert.ok((kubelet?.cpu?.usageCoreNanoSeconds ?? 0) > 0);
  for (const part of [kubelet?.cpu, kubelet?.memory, kubelet?.io]) assert.ok(part?.psi?.some !== undefined);
});

test('the cadvisor page of this machine has every family of the record that the kernel counts', async () => {
  const page = await (await node.read('/metrics/cadvisor')).text();
  const has = new Set([...page.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]));
  const recorded = shapeRows(readFileSync('test/golden/node/metrics-cadvisor.txt', 'utf8')).map(
    (row) => row.split(' ')[0],
  );
  const missing = recorded.filter((name) => !has.has(name));
  // Counted by the controllers blkio and io alone, and by kernels from 5.19 on.
  const mayBeMissing =
    /^(container_blkio_device_usage_total|container_fs_(reads|writes)_bytes_total|container_memory_max_usage_bytes)$/;
  assert.deepEqual(
    missing.filter((name) => !mayBeMissing.test(name ?? '')),
    [],
  );
  assert.match(page, new RegExp(`^container_memory_working_set_bytes\\{container="",id="${path}"`, 'm'));
});
