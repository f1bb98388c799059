import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyJournal, type Journal } from './journal.ts';
import { instanceNames } from './names.ts';
import { classifyProcess, planRemoval, type ObservedSystem, type Removal } from './plan-removal.ts';
import type { ProcessInfo } from './process-table.ts';

const names = instanceNames('/var/lib/tubelet');
const journal: Journal = emptyJournal('boot');
const clean: ObservedSystem = {
  bootId: 'boot',
  processes: [],
  self: [1, 50],
  mounts: ['/', '/proc'],
  links: [{ name: 'lo' }, { name: 'eth0' }],
  iptables: '',
  cgroups: [],
  strayFiles: [],
  folders: [],
  emptyShared: [],
};

function running(pid: number, argv: readonly string[], more: Partial<ProcessInfo> = {}): ProcessInfo {
  return { pid, parent: 1, startTime: `${pid}00`, argv, cgroups: ['/'], ...more };
}

const containerd = running(10, ['/usr/bin/containerd', '--config', names.containerdConfig]);
const shim = running(11, [
  '/usr/bin/containerd-shim-runc-v2',
  '-namespace',
  'k8s.io',
  '-id',
  'c',
  '-address',
  names.socket,
]);

const processes: readonly { name: string; process: ProcessInfo; want: string | undefined }[] = [
  { name: 'our containerd', process: containerd, want: 'containerd' },
  { name: 'our shim', process: shim, want: 'shim' },
  {
    name: 'our CRI-O',
    process: running(1, ['/opt/bin/crio', '--config', names.containerdConfig]),
    want: 'containerd',
  },
  {
    name: 'what CRI-O watches our containers with',
    process: running(1, ['/usr/bin/conmon', '-b', '/x', '--exit-dir', `${names.runDir}/exits`]),
    want: 'shim',
  },
  {
    name: "another CRI-O's",
    process: running(1, ['/usr/bin/conmon', '--exit-dir', '/run/crio/exits']),
    want: undefined,
  },
  {
    name: 'a container in a slice of systemd',
    process: running(1, ['httpd'], { cgroups: [`${names.cgroupSlice}/x.slice/c.scope`] }),
    want: 'container',
  },
  { name: 'the containerd of the system', process: running(1, ['/usr/bin/containerd']), want: undefined },
  {
    name: 'a shim of the system',
    process: running(1, ['/usr/bin/containerd-shim-runc-v2', '-address', '/run/containerd/containerd.sock']),
    want: undefined,
  },
  { name: 'the agent', process: running(1, ['node', 'tubelet', `--config=${names.kubeletConfig}`]), want: 'agent' },
  {
    name: 'a container whose shim died',
    process: running(1, ['httpd'], { cgroups: ['/', `${names.cgroupRoot}/kubepods/pod1/c`] }),
    want: 'container',
  },
  { name: 'a program that reads our log', process: running(1, ['tail', '-f', names.containerdLog]), want: undefined },
  { name: 'an editor with our configuration', process: running(1, ['vi', names.containerdConfig]), want: undefined },
  {
    name: 'a cgroup that begins like ours',
    process: running(1, ['x'], { cgroups: [`${names.cgroupRoot}0`] }),
    want: undefined,
  },
  { name: 'a kernel thread', process: running(2, []), want: undefined },
];

for (const { name, process, want } of processes) {
  test(`classifyProcess: ${name}`, () => assert.equal(classifyProcess(names, process), want));
}

test('a clean machine gives an empty plan, with and without a journal', () => {
  assert.deepEqual(planRemoval(names, journal, clean), []);
  assert.deepEqual(planRemoval(names, undefined, clean), []);
});

const pids = (plan: readonly Removal[]): number[] =>
  plan.flatMap((removal) => (removal.kind === 'kill' ? [removal.process.pid] : [])).sort((a, b) => a - b);

test('containers go before their shims, and processes before anything else', () => {
  const pause = running(20, ['/catatonit', '-P'], { parent: shim.pid });
  const child = running(21, ['sh'], { parent: pause.pid });
  const observed = { ...clean, processes: [containerd, shim, pause, child], folders: [names.runDir] };
  const first = planRemoval(names, journal, observed);
  assert.deepEqual(pids(first), [20, 21]);
  const second = planRemoval(names, journal, { ...observed, processes: [containerd, shim] });
  assert.deepEqual(pids(second), [10, 11]);
  assert.ok([...first, ...second].every((removal) => removal.kind === 'kill'));
});

test('recorded processes are ended only when they are still the same', () => {
  const recorded: Journal = { ...journal, processes: { agent: { pid: 30, startTime: '3000' } } };
  const plan = (process: ProcessInfo, bootId = 'boot'): number[] =>
    pids(planRemoval(names, recorded, { ...clean, bootId, processes: [process] }));
  assert.deepEqual(plan(running(30, ['renamed'])), [30]);
  assert.deepEqual(plan(running(30, ['stranger'], { startTime: '9999' })), []);
  assert.deepEqual(plan(running(30, ['stranger']), 'another boot'), []);
});

test('a removal never ends its own process or its parents', () => {
  const self = running(50, ['node', 'tubelet', 'down', `--config=${names.kubeletConfig}`]);
  assert.deepEqual(planRemoval(names, journal, { ...clean, processes: [self] }), []);
});

test('mounts go in reverse order, and only ours', () => {
  const mounts = ['/', names.root, `${names.root}/kubelet/a`, `${names.root}/kubelet/a/b`, `${names.runDir}/netns/x`];
  const more = [`${names.root}-other/x`, `${names.manifests}/nfs`];
  const paths = (journal: Journal | undefined): string[] =>
    planRemoval(names, journal, { ...clean, mounts: [...mounts, ...more] }).flatMap((removal) =>
      removal.kind === 'unmount' ? [removal.path] : [],
    );
  // The root and the manifests may be file systems of the user.
  assert.deepEqual(paths(journal), [`${names.runDir}/netns/x`, `${names.root}/kubelet/a/b`, `${names.root}/kubelet/a`]);
  assert.deepEqual(paths(undefined), [`${names.runDir}/netns/x`]);
});

test('interfaces in the bridge go before the bridge', () => {
  const links = [
    ...clean.links,
    { name: names.bridge },
    { name: 'veth1', master: names.bridge },
    { name: 'v2', master: 'br0' },
  ];
  assert.deepEqual(planRemoval(names, journal, { ...clean, links }), [
    { kind: 'deleteLink', name: 'veth1' },
    { kind: 'deleteLink', name: names.bridge },
  ]);
});

test('shared folders go only when they are empty and were not there before', () => {
  const observed = { ...clean, emptyShared: ['/run/containerd', '/var/lib/cni'] };
  const before: Journal = { ...journal, absentBefore: ['/run/containerd', '/run/containerd/s'] };
  assert.deepEqual(planRemoval(names, before, observed), [{ kind: 'removeEmptyFolder', path: '/run/containerd' }]);
  assert.deepEqual(planRemoval(names, undefined, observed), []);
});

test('cgroups, files and folders go in the order seen', () => {
  const observed = { ...clean, cgroups: ['/c/a/b', '/c/a'], strayFiles: ['/f'], folders: [names.runDir] };
  assert.deepEqual(
    planRemoval(names, journal, observed).map((removal) => ('path' in removal ? removal.path : removal.kind)),
    ['/c/a/b', '/c/a', '/f', names.runDir],
  );
});
