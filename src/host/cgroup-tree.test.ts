import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { systemClock } from '../base/system-clock.ts';
import type { CgroupSetting } from '../model/cgroup-values.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { HostCgroups, type HostCgroupsOptions } from './cgroup-tree.ts';
import { cgroupHierarchies, type CgroupHierarchy } from './pod-cgroups.ts';

type Contents = Readonly<Record<string, string>>;

/** What a new cgroup has on a machine of version 1 whose unified tree has no controller of use, as recorded on one. */
const hybrid: Readonly<Record<string, Contents>> = {
  cpu: { 'cpu.shares': '1024', 'cpu.cfs_period_us': '100000', 'cpu.cfs_quota_us': '-1' },
  cpuacct: {},
  cpuset: { 'cpuset.cpus': '', 'cpuset.mems': '' },
  memory: { 'memory.limit_in_bytes': '9223372036854771712', 'memory.usage_in_bytes': '0' },
  devices: {},
  pids: { 'pids.max': 'max' },
  systemd: {},
};
/** The same of version 2, but for files of controllers, which are there when the one above hands them down. */
const unified: Contents = { 'cgroup.controllers': '', 'cgroup.subtree_control': '', 'cgroup.type': 'domain' };
const unifiedFiles: Readonly<Record<string, Contents>> = {
  cpu: { 'cpu.weight': '100', 'cpu.max': 'max 100000' },
  cpuset: { 'cpuset.cpus': '', 'cpuset.mems': '' },
  memory: { 'memory.max': 'max', 'memory.min': '0', 'memory.current': '4096' },
  hugetlb: { 'hugetlb.2MB.max': 'max', 'hugetlb.2MB.rsvd.max': 'max' },
  pids: { 'pids.max': 'max' },
};

const put = (directory: string, files: Contents): void => {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), `${content}\n`);
};
const get = (...path: readonly string[]): string => readFileSync(join(...path), 'utf8').trim();

function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'tubelet-cgroups-'));
  context.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A machine of version 1; a directory that is made gets its files from the kernel. */
function machineOfVersion1(context: TestContext, more: Partial<HostCgroupsOptions> = {}) {
  const root = folder(context);
  const hierarchies: CgroupHierarchy[] = Object.entries(hybrid).map(([name, files]) => {
    mkdirSync(join(root, name));
    put(join(root, name), { 'cgroup.procs': '1', ...files });
    const controllers = [name === 'systemd' ? 'name=systemd' : name];
    return { version: 1, root: join(root, name), controllers };
  });
  put(join(root, 'cpuset'), { 'cpuset.cpus': '0-1', 'cpuset.mems': '0' });
  mkdirSync(join(root, 'unified'));
  put(join(root, 'unified'), { ...unified, 'cgroup.controllers': 'hugetlb' });
  hierarchies.push({ version: 2, root: join(root, 'unified'), controllers: [] });
  const makeDirectory = (path: string): void => {
    mkdirSync(path);
    const tree = path.slice(root.length + 1).split('/')[0] ?? '';
    put(path, hybrid[tree] ?? {});
  };
  const tree = HostCgroups.open({ version: 1, clock: new FakeClock(), hierarchies, makeDirectory, ...more });
  return { root, tree };
}

function machineOfVersion2(context: TestContext, controllers = 'cpuset cpu io memory hugetlb pids') {
  const root = folder(context);
  put(root, { ...unified, 'cgroup.controllers': controllers });
  const made: string[] = [];
  const makeDirectory = (path: string): void => {
    mkdirSync(path);
    made.push(path.slice(root.length));
    const handedDown = get(join(path, '..'), 'cgroup.subtree_control').split(/[ +]+/).filter(Boolean);
    put(path, { ...unified, 'cgroup.controllers': handedDown.join(' ') });
    for (const name of handedDown) put(path, unifiedFiles[name] ?? {});
  };
  const hierarchies: CgroupHierarchy[] = [{ version: 2, root, controllers: [] }];
  const tree = HostCgroups.open({ version: 2, clock: new FakeClock(), hierarchies, makeDirectory });
  return { root, tree, made };
}

describe('version 1', () => {
  test('its controllers are those of its trees; those of the unified tree cannot be used', (context) => {
    const { tree } = machineOfVersion1(context);
    const expected = ['cpu', 'cpuacct', 'cpuset', 'memory', 'devices', 'pids', 'name=systemd'];
    assert.deepEqual([...tree.controllers], expected);
  });

  test('a cgroup is made in every tree, and its cpuset filled from above', (context) => {
    const { root, tree } = machineOfVersion1(context);
    assert.equal(tree.missing('/kubepods/pod1')?.names.length, 6);
    tree.make('/kubepods/pod1');
    assert.equal(tree.missing('/kubepods/pod1'), undefined);
    for (const name of Object.keys(hybrid)) assert.ok(existsSync(join(root, name, 'kubepods/pod1')), name);
    assert.ok(!existsSync(join(root, 'unified/kubepods')));
    for (const path of ['kubepods', 'kubepods/pod1']) {
      assert.equal(get(root, 'cpuset', path, 'cpuset.cpus'), '0-1');
      assert.equal(get(root, 'cpuset', path, 'cpuset.mems'), '0');
    }
  });

  test('a cpuset that was narrowed stays so, for those below too', (context) => {
    const { root, tree } = machineOfVersion1(context);
    tree.make('/kubepods');
    put(join(root, 'cpuset/kubepods'), { 'cpuset.cpus': '1' });
    tree.make('/kubepods/pod1');
    assert.equal(get(root, 'cpuset/kubepods', 'cpuset.cpus'), '1');
    assert.equal(get(root, 'cpuset/kubepods/pod1', 'cpuset.cpus'), '1');
  });

  test('half a cgroup is completed', (context) => {
    const { root, tree } = machineOfVersion1(context);
    mkdirSync(join(root, 'memory/kubepods'));
    assert.equal(tree.missing('/kubepods')?.names.includes(join(root, 'memory/kubepods')), false);
    assert.equal(tree.missing('/kubepods')?.names.includes(join(root, 'cpu/kubepods')), true);
    tree.make('/kubepods');
    assert.equal(tree.missing('/kubepods'), undefined);
  });

  test('trees that not every runtime knows do not count', (context) => {
    const { root, tree } = machineOfVersion1(context);
    tree.make('/kubepods');
    rmSync(join(root, 'devices/kubepods'), { recursive: true });
    assert.equal(tree.missing('/kubepods'), undefined);
  });

  test('values are written into the tree of their controller, and read from there', (context) => {
    const { root, tree } = machineOfVersion1(context);
    tree.make('/pod');
    tree.write('/pod', [
      { controller: 'cpu', file: 'cpu.shares', value: '2' },
      { controller: 'memory', file: 'memory.limit_in_bytes', value: '4096' },
    ]);
    assert.equal(get(root, 'cpu/pod/cpu.shares'), '2');
    assert.equal(tree.read('/pod', 'memory', 'memory.limit_in_bytes'), '4096');
    assert.equal(tree.read('/pod', 'memory', 'memory.high'), undefined);
    assert.equal(tree.read('/pod', 'hugetlb', 'hugetlb.2MB.limit_in_bytes'), undefined);
  });

  test('no file is made up', (context) => {
    const { root, tree } = machineOfVersion1(context);
    tree.make('/pod');
    const setting = { controller: 'cpu', file: 'cpu.dreams', value: '1' };
    assert.throws(() => tree.write('/pod', [setting]), {
      kind: 'unsupported',
      message: /cannot write 1 to .*cpu\.dreams/,
    });
    tree.write('/pod', [{ ...setting, optional: true }]);
    assert.ok(!existsSync(join(root, 'cpu/pod/cpu.dreams')));
    assert.throws(
      () => tree.write('/pod', [{ controller: 'rdma', file: 'rdma.max', value: '1' }]),
      /no cgroup controller/,
    );
  });

  test('refuses paths that reach beyond', (context) => {
    const { tree } = machineOfVersion1(context);
    for (const path of ['/', 'pod', '/a/../../b']) {
      assert.throws(() => tree.make(path), { kind: 'invalid' });
      assert.throws(() => tree.write(path, []), { kind: 'invalid' });
    }
  });

  test('beside systemd the tree of its units is left alone', (context) => {
    const { root, tree } = machineOfVersion1(context);
    tree.make('/kubepods.slice', { besideSystemd: true });
    assert.deepEqual(tree.missing('/kubepods.slice'), { what: 'paths', names: [join(root, 'systemd/kubepods.slice')] });
  });

  test('what cannot be made everywhere is not left somewhere', (context) => {
    const { root, tree } = machineOfVersion1(context, {
      makeDirectory: (path) => {
        if (path.includes('/pids/')) throw Object.assign(new Error('no'), { code: 'ENOSPC' });
        mkdirSync(path);
      },
    });
    assert.throws(() => tree.make('/kubepods/pod1'), { kind: 'exhausted' });
    for (const name of Object.keys(hybrid)) assert.ok(!existsSync(join(root, name, 'kubepods')), name);
  });

  test('a read-only tree is reported', (context) => {
    const makeDirectory = (): void => {
      throw Object.assign(new Error('no'), { code: 'EROFS' });
    };
    const { tree } = machineOfVersion1(context, { makeDirectory });
    assert.throws(() => tree.make('/pod'), { kind: 'denied', message: /cannot make cgroup .*\/cpu\/pod: EROFS/ });
  });

  test('names below, of any tree', (context) => {
    const { root, tree } = machineOfVersion1(context);
    tree.make('/kubepods/pod1');
    mkdirSync(join(root, 'unified/kubepods/pod2'), { recursive: true });
    assert.deepEqual(tree.children('/kubepods'), ['pod1', 'pod2']);
    assert.deepEqual(tree.children('/nowhere'), []);
  });
});

describe('version 2', () => {
  test('controllers are handed down on the way, and not to the pod’s own children', (context) => {
    const { root, tree, made } = machineOfVersion2(context);
    tree.make('/kubepods/burstable/pod1');
    assert.deepEqual(made, ['/kubepods', '/kubepods/burstable', '/kubepods/burstable/pod1']);
    for (const path of ['', 'kubepods', 'kubepods/burstable']) {
      assert.equal(get(root, path, 'cgroup.subtree_control'), '+cpuset +cpu +io +memory +hugetlb +pids', path);
    }
    assert.equal(get(root, 'kubepods/burstable/pod1', 'cgroup.subtree_control'), '');
  });

  test('enabled controllers are not written again', (context) => {
    const { root, tree } = machineOfVersion2(context);
    put(root, { 'cgroup.subtree_control': 'cpuset cpu io memory hugetlb pids' });
    tree.make('/kubepods');
    assert.equal(get(root, 'cgroup.subtree_control'), 'cpuset cpu io memory hugetlb pids');
  });

  test('only existing controllers are handed down', (context) => {
    const { root, tree } = machineOfVersion2(context, 'io memory');
    tree.make('/kubepods');
    assert.equal(get(root, 'cgroup.subtree_control'), '+io +memory');
    tree.write('/kubepods', [{ controller: 'memory', file: 'memory.max', value: '4096' }]);
    assert.equal(tree.read('/kubepods', 'memory', 'memory.max'), '4096');
    assert.throws(() => tree.write('/kubepods', [{ controller: 'cpu', file: 'cpu.weight', value: '1' }]), {
      kind: 'unsupported',
    });
  });
});

describe('version 2, what counts as there', () => {
  test('a cgroup that has all controllers of the root that limit pods', (context) => {
    const { root, tree } = machineOfVersion2(context);
    assert.deepEqual(tree.missing('/kubepods'), { what: 'cgroup', names: [] });
    tree.make('/kubepods');
    assert.equal(tree.missing('/kubepods'), undefined);
    put(join(root, 'kubepods'), { 'cgroup.controllers': 'cpu memory pids' });
    assert.deepEqual(tree.missing('/kubepods'), { what: 'controllers', names: ['cpuset', 'hugetlb'] });
  });

  test('what the root lacks is not missed', (context) => {
    const { tree } = machineOfVersion2(context, 'cpu io memory pids');
    tree.make('/kubepods');
    assert.equal(tree.missing('/kubepods'), undefined);
    assert.equal(tree.missing('/'), undefined);
  });

  test('a controller that is not handed down is reported, and nothing is left behind', (context) => {
    const { root, tree, made } = machineOfVersion2(context, 'cpu');
    tree.make('/kubepods');
    rmSync(join(root, 'kubepods/cgroup.subtree_control'));
    assert.throws(
      () => tree.make('/kubepods/pod1'),
      /cannot enable controller cpu for the cgroups below .*kubepods: ENOENT/,
    );
    assert.deepEqual(made, ['/kubepods']);
  });

  test('a cgroup of threads is refused', (context) => {
    const { root, tree } = machineOfVersion2(context);
    tree.make('/kubepods');
    put(join(root, 'kubepods'), { 'cgroup.type': 'threaded' });
    assert.throws(() => tree.make('/kubepods'), /with domain controllers -- it is in threaded mode/);
    put(join(root, 'kubepods'), { 'cgroup.type': 'domain invalid' });
    assert.throws(() => tree.make('/kubepods'), /it is in an invalid state/);
  });
});

describe('removing', () => {
  /** Processes end when they are killed, at the earliest when they are listed again. */
  function withProcesses(context: TestContext, pids: readonly number[], stubborn = 0) {
    const killed: number[] = [];
    const clock = new FakeClock();
    const machine = machineOfVersion1(context, {
      clock,
      kill: (pid) => {
        killed.push(pid);
        if (killed.length <= stubborn) return;
        emptied();
      },
    });
    const { root, tree } = machine;
    tree.make('/pod/c');
    // A plain directory must be empty to go; a cgroup need not.
    for (const name of Object.keys(hybrid)) {
      for (const path of ['pod/c', 'pod']) {
        for (const file of Object.keys(hybrid[name] ?? {})) rmSync(join(root, name, path, file));
      }
    }
    const list = join(root, 'pids/pod/c/cgroup.procs');
    writeFileSync(list, pids.map((pid) => `${pid}\n`).join(''));
    const emptied = (): void => rmSync(list, { force: true });
    return { ...machine, clock, killed };
  }

  test('kills the processes inside, then removes it from every tree', async (context) => {
    const { tree, killed } = withProcesses(context, [4242]);
    assert.deepEqual(await tree.remove('/pod'), { removed: true, processes: [4242] });
    assert.deepEqual(killed, [4242]);
    assert.equal(tree.missing('/pod')?.names.length, 6);
  });

  test('tries again while a process is still there, and reports it in the end', async (context) => {
    const { tree, clock, killed, root } = withProcesses(context, [4242], 99);
    const end = tree.remove('/pod');
    await clock.advance(150);
    assert.deepEqual(await end, {
      removed: false,
      busy: [join(root, 'pids/pod/c')],
      processes: [4242],
    });
    assert.equal(killed.length, 5);
  });

  test('killing alone leaves the cgroup, and says where something is left', async (context) => {
    const { tree, clock, killed, root } = withProcesses(context, [4242, 1]);
    const end = tree.kill('/pod');
    await clock.advance(150);
    assert.deepEqual(await end, { busy: [], processes: [4242] });
    writeFileSync(join(root, 'pids/pod/c/cgroup.procs'), '1\n');
    const second = tree.kill('/pod');
    await clock.advance(150);
    assert.deepEqual(await second, { busy: [join(root, 'pids/pod/c')], processes: [] });
    assert.deepEqual(killed, [4242]);
    assert.equal(tree.missing('/pod'), undefined);
  });

  test('never kills itself, the first process or one it cannot see', async (context) => {
    const { tree, clock, killed } = withProcesses(context, [0, 1, process.pid]);
    const end = tree.remove('/pod');
    await clock.advance(150);
    assert.equal((await end).removed, false);
    assert.deepEqual(killed, []);
  });

  test('a missing cgroup counts as removed', async (context) => {
    const { tree } = machineOfVersion1(context);
    assert.deepEqual(await tree.remove('/nothing'), { removed: true, processes: [] });
  });
});

test('on a real tree: a quota and its period change together, though the kernel refuses them one by one', async (context) => {
  const hierarchies = cgroupHierarchies().filter(({ controllers }) => controllers.includes('cpu'));
  const path = `/tubelet-test-${process.pid}-cpu`;
  const tree = HostCgroups.open({ version: 1, clock: systemClock(), hierarchies });
  try {
    if (hierarchies.length === 0) throw new Error('no tree of version 1');
    tree.make(`${path}/pod`);
  } catch (error) {
    context.skip(`needs a cgroup tree of version 1 with cpu that it may write to: ${String(error)}`);
    return;
  }
  context.after(() => tree.remove(path));
  const cpu = (periodUs: number, quotaUs: number): CgroupSetting[] => [
    { controller: 'cpu', file: 'cpu.cfs_period_us', value: String(periodUs) },
    { controller: 'cpu', file: 'cpu.cfs_quota_us', value: String(quotaUs) },
  ];
  tree.write(path, cpu(100_000, 50_000));
  tree.write(`${path}/pod`, cpu(100_000, 50_000));
  // With half the period alone the pod would have more than the one above it.
  tree.write(`${path}/pod`, cpu(50_000, 25_000));
  assert.equal(tree.read(`${path}/pod`, 'cpu', 'cpu.cfs_period_us'), '50000');
  assert.equal(tree.read(`${path}/pod`, 'cpu', 'cpu.cfs_quota_us'), '25000');
  assert.throws(() => tree.write(`${path}/pod`, cpu(50_000, 100_000)), { kind: 'invalid' });
});
