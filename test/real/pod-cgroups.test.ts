import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { HostCgroups, cgroupHierarchies, nodeCapacity, readMachineInfo } from '../../src/host/index.ts';
import { cgroupSettings, type CgroupValues } from '../../src/model/cgroup-values.ts';
import { processesOf } from '../support/real-footprint.ts';
import { RealNode } from '../support/real-node.ts';
import { idle, podOf, shell } from '../support/real-pods.ts';
import { clock, until } from '../support/real-wait.ts';

/** The cgroups of pods as the kernel has them, from all pods down to one container. */
let node: RealNode;
const flags = ['--pod-max-pids=300', '--kube-reserved=cpu=100m,memory=64Mi,pid=100'];
const version = readMachineInfo().cgroupVersion;
const tree = HostCgroups.open({ version, clock });
const mega = 1n << 20n;
const period = { cpuPeriodUs: 100_000n };

before(async () => {
  node = await RealNode.start('cgroups');
  put('guaranteed', { requests: { cpu: '200m', memory: '64Mi' }, limits: { cpu: '200m', memory: '64Mi' } });
  put('burstable', { requests: { cpu: '500m', memory: '32Mi' } });
  put('limited', { requests: { cpu: '250m' }, limits: { cpu: '1', memory: '48Mi' } });
  put('besteffort', {});
  await node.workingAgent(flags);
});
after(() => node?.destroy());

function put(name: string, resources: object): void {
  const spec = { terminationGracePeriodSeconds: 5, containers: [shell('main', node.image, idle, { resources })] };
  node.put(name, podOf(name, spec));
}

interface Expected {
  /** Below the cgroup of all pods. */
  readonly tier: string;
  readonly pod: CgroupValues;
  readonly container: CgroupValues;
}

const expected: Readonly<Record<string, Expected>> = {
  guaranteed: {
    tier: '',
    pod: { cpuShares: 204n, cpuQuotaUs: 20_000n, ...period, memoryBytes: 64n * mega, pids: 300n },
    container: { cpuShares: 204n, cpuQuotaUs: 20_000n, ...period, memoryBytes: 64n * mega },
  },
  burstable: { tier: '/burstable', pod: { cpuShares: 512n, pids: 300n }, container: { cpuShares: 512n } },
  limited: {
    tier: '/burstable',
    pod: { cpuShares: 256n, cpuQuotaUs: 100_000n, ...period, memoryBytes: 48n * mega, pids: 300n },
    container: { cpuShares: 256n, cpuQuotaUs: 100_000n, ...period, memoryBytes: 48n * mega },
  },
  besteffort: { tier: '/besteffort', pod: { cpuShares: 2n, pids: 300n }, container: { cpuShares: 2n } },
};

const allPods = (): string => `${node.names.cgroupRoot}/kubepods`;

/** Where a pod's cgroup is, and that of its container below it. */
async function pathsOf(name: string): Promise<{ readonly pod: string; readonly container: string }> {
  const { metadata } = await node.readyPod(name);
  const pod = `${allPods()}${expected[name]?.tier}/pod${metadata?.uid}`;
  const id = (await node.runtime.running(name)).get('main');
  return { pod, container: `${pod}/${id}` };
}

function assertValues(path: string, values: CgroupValues): void {
  for (const { controller, file, value } of cgroupSettings(values, version)) {
    assert.equal(tree.read(path, controller, file), value, `${file} of ${path}`);
  }
}

/** A limit that nobody set reads as the kernel's largest. */
function assertUnlimited(path: string): void {
  const [memory, quota] = version === 1 ? ['memory.limit_in_bytes', 'cpu.cfs_quota_us'] : ['memory.max', 'cpu.max'];
  assert.match(tree.read(path, 'memory', memory) ?? '', /^(max|9223372036854771712)$/, path);
  assert.match(tree.read(path, 'cpu', quota) ?? '', /^(-1|max 100000)$/, path);
}

/** Which directory it is: one that was made anew is another. */
const identity = (path: string): readonly number[] =>
  cgroupHierarchies()
    .map(({ root }) => join(root, path))
    .filter((directory) => existsSync(directory))
    .map((directory) => statSync(directory).ino);

test('pods and containers have the values of their specs, and live where they should', async () => {
  for (const [name, { pod, container }] of Object.entries(expected)) {
    const paths = await pathsOf(name);
    assert.equal(tree.missing(paths.pod), undefined);
    assertValues(paths.pod, pod);
    assertValues(paths.container, container);
    if (pod.memoryBytes === undefined) assertUnlimited(paths.pod);
    const places = processesOf(node.names).flatMap(({ cgroups }) => cgroups);
    assert.ok(places.includes(paths.container), `${paths.container} in ${places.join(' ')}`);
  }
});

test('tiers weigh what their pods ask for', async () => {
  for (const name of Object.keys(expected)) await node.readyPod(name);
  assertValues(`${allPods()}/burstable`, { cpuShares: 768n });
  assertValues(`${allPods()}/besteffort`, { cpuShares: 2n });
});

test('all pods together get the machine less what is reserved', () => {
  const capacity = nodeCapacity(readMachineInfo());
  const milliCpu = BigInt(capacity['cpu'] ?? 0) * 1_000n - 100n;
  assertValues(allPods(), {
    cpuShares: (milliCpu * 1_024n) / 1_000n,
    memoryBytes: BigInt(capacity['memory'] ?? 0) - 64n * mega,
    pids: BigInt(capacity['pid'] ?? 0) - 100n,
  });
});

test('an agent that was killed and comes back changes none of it', async () => {
  const before = new Map<string, readonly number[]>();
  for (const name of Object.keys(expected)) {
    const { pod, container } = await pathsOf(name);
    before.set(pod, identity(pod)).set(container, identity(container));
  }
  await node.endAgents();
  const agent = await node.workingAgent(flags);
  await agent.said(/Updated Node Allocatable limit across pods/);
  for (const [name, { pod }] of Object.entries(expected)) assertValues((await pathsOf(name)).pod, pod);
  assertValues(`${allPods()}/burstable`, { cpuShares: 768n });
  for (const [path, inodes] of before) assert.deepEqual(identity(path), inodes, path);
});

test('nothing remains of a pod that went, not even a process that hid in its cgroup', async () => {
  const { pod } = await pathsOf('burstable');
  const root = cgroupHierarchies().find(({ controllers }) => version === 2 || controllers.includes('pids'))?.root ?? '';
  const stowaway = spawn('sleep', ['600'], { stdio: 'ignore' });
  const ended = once(stowaway, 'exit');
  // On version 2 processes live in leaves only.
  const leaf = version === 2 ? (await pathsOf('burstable')).container : pod;
  writeFileSync(join(root, leaf, 'cgroup.procs'), String(stowaway.pid));
  await node.remove('burstable');
  assert.equal((await ended)[1], 'SIGKILL');
  assert.deepEqual(identity(pod), []);
  assertValues(`${allPods()}/burstable`, { cpuShares: 256n });
  for (const name of ['guaranteed', 'limited', 'besteffort']) await node.remove(name);
  const left = (): readonly string[] =>
    ['', '/burstable', '/besteffort'].flatMap((tier) => tree.children(allPods() + tier));
  await until('no cgroup of a pod is left', () => left().every((name) => !name.startsWith('pod')), { state: left });
  assertValues(`${allPods()}/burstable`, { cpuShares: 2n });
});

test('an agent whose cgroup root is not there says so and ends', async () => {
  await node.endAgents();
  const agent = node.agent([`--cgroup-root=${node.names.cgroupRoot}-nowhere`]);
  const { code } = await agent.ended;
  assert.equal(code, 1);
  assert.match(
    agent.text,
    /cannot start pod-cgroups.*invalid configuration: cgroup \S+-nowhere"\] has some missing paths/,
  );
  assert.deepEqual(identity(`${node.names.cgroupRoot}-nowhere`), []);
});
