import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cniConfig } from './cni-config.ts';
import { containerdConfig } from './containerd-config.ts';
import { agentEnvironment, agentFlags, kubeletConfiguration, type AgentPlan } from './kubelet-config.ts';
import { instanceNames } from './names.ts';
import { classifyProcess } from './plan-removal.ts';

const names = instanceNames('/srv/my "root"');
const plan: AgentPlan = {
  names,
  nodeName: 'here',
  manifests: '/m',
  endpoint: 'unix:///run/x.sock',
  healthzPort: 1,
  readOnlyPort: 2,
  cgroupDriver: 'cgroupfs',
};

test('every path of the private containerd is ours, and quoted', () => {
  const text = containerdConfig(names, { snapshotter: 'native', cgroupDriver: 'cgroupfs' });
  const paths = [...text.matchAll(/= "(\/(?:[^"\\]|\\.)*)"/g)].map((match) => JSON.parse(`"${match[1]}"`) as string);
  const foreign = paths.filter((path) => !path.startsWith(`${names.root}/`) && !path.startsWith(`${names.runDir}/`));
  assert.deepEqual(foreign, ['/usr/lib/cni', '/usr/sbin/runc']);
  assert.match(text, /root = "\/srv\/my \\"root\\"\/containerd"/);
  assert.match(text, /snapshotter = "native"/);
});

test('the network keeps its addresses in the root', () => {
  const config = JSON.parse(cniConfig(names, '10.64.0.0/24')) as {
    name: string;
    plugins: { ipam?: { dataDir: string } }[];
  };
  assert.equal(config.name, names.network);
  assert.equal(config.plugins[0]?.ipam?.dataDir, names.ipamDir);
});

test('pods are shown by a socket of the instance, which is in the environment of the agent', () => {
  assert.deepEqual(agentEnvironment(plan), {
    TUBELET_READ_ONLY_SOCKET: names.agentSocket,
    TUBELET_KERNEL_TUNABLES: 'keep',
  });
  assert.ok(names.agentSocket.startsWith(`${names.runDir}/`) && names.agentSocket.length < 100);
});

test('the agent listens on this machine only and is recognized by its flags', () => {
  const config = JSON.parse(kubeletConfiguration(plan)) as Record<string, unknown>;
  assert.equal(config['address'], '127.0.0.1');
  assert.equal(config['healthzBindAddress'], '127.0.0.1');
  assert.equal(config['cgroupRoot'], names.cgroupRoot);
  const process = { pid: 9, parent: 1, startTime: '1', argv: ['node', 'tubelet', ...agentFlags(plan)], cgroups: [] };
  assert.equal(classifyProcess(names, process), 'agent');
});

test('an external runtime decides about cgroups itself', () => {
  const config = JSON.parse(kubeletConfiguration({ ...plan, cgroupDriver: undefined })) as Record<string, unknown>;
  assert.equal(config['cgroupRoot'], undefined);
  assert.equal(config['cgroupDriver'], undefined);
});
