import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { parseMountInfo } from './mountinfo.ts';
import { cgroupHierarchies, removeCgroup, type CgroupHierarchy } from './pod-cgroups.ts';

function trees(context: TestContext): { roots: string[]; hierarchies: CgroupHierarchy[] } {
  const folder = mkdtempSync(join(tmpdir(), 'tubelet-cgroup-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const roots = ['cpu', 'memory', 'pids'].map((name) => join(folder, name));
  for (const root of roots) mkdirSync(root);
  return { roots, hierarchies: roots.map((root) => ({ version: 1, root, controllers: [] })) };
}

test('the trees of version 1 and 2, each once', () => {
  const mounts = parseMountInfo(
    [
      '30 29 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct',
      '31 29 0:31 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,release_agent=/x,name=systemd',
      '32 29 0:32 /part /elsewhere rw - cgroup2 cgroup2 rw,nsdelegate',
      '33 29 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate',
      '34 29 0:30 / /again rw - cgroup cgroup rw,cpu,cpuacct',
      '35 29 0:33 / /tmp rw - tmpfs tmpfs rw',
    ].join('\n'),
  );
  assert.deepEqual(cgroupHierarchies(mounts), [
    { version: 1, root: '/sys/fs/cgroup/cpu,cpuacct', controllers: ['cpu', 'cpuacct'] },
    { version: 1, root: '/sys/fs/cgroup/systemd', controllers: ['name=systemd'] },
    { version: 2, root: '/sys/fs/cgroup/unified', controllers: [] },
  ]);
});

test('removes a cgroup with those below it from every tree that has it', async (context) => {
  const { roots, hierarchies } = trees(context);
  mkdirSync(join(roots[0]!, 'kubepods/besteffort/pod1/c1/deep'), { recursive: true });
  mkdirSync(join(roots[0]!, 'kubepods/besteffort/pod1/c2'), { recursive: true });
  mkdirSync(join(roots[1]!, 'kubepods/besteffort/pod1'), { recursive: true });
  mkdirSync(join(roots[1]!, 'kubepods/besteffort/pod2'), { recursive: true });
  assert.deepEqual(await removeCgroup('/kubepods/besteffort/pod1', hierarchies), { removed: true });
  assert.ok(!existsSync(join(roots[0]!, 'kubepods/besteffort/pod1')));
  assert.ok(!existsSync(join(roots[1]!, 'kubepods/besteffort/pod1')));
  assert.ok(existsSync(join(roots[0]!, 'kubepods/besteffort')));
  assert.ok(existsSync(join(roots[1]!, 'kubepods/besteffort/pod2')));
  assert.deepEqual(await removeCgroup('/kubepods/besteffort/pod1', hierarchies), { removed: true });
});

test('with a process inside nothing is removed in any tree', async (context) => {
  const { roots, hierarchies } = trees(context);
  mkdirSync(join(roots[0]!, 'pod/a'), { recursive: true });
  mkdirSync(join(roots[1]!, 'pod/a/b'), { recursive: true });
  writeFileSync(join(roots[1]!, 'pod/a/b/cgroup.procs'), '1234\n');
  const busy = [join(roots[1]!, 'pod/a/b')];
  assert.deepEqual(await removeCgroup('/pod', hierarchies), { removed: false, busy });
  assert.ok(existsSync(join(roots[0]!, 'pod/a')));
});

test('refuses paths that could reach beyond one cgroup', async () => {
  for (const path of ['/', '', 'pod', '/a/../b', '/a/', '//a', '/.']) {
    await assert.rejects(removeCgroup(path, []), { kind: 'invalid' }, path);
  }
});

test('on the real cgroup file systems: busy while a process is inside, removed afterwards', async (context) => {
  const hierarchies = cgroupHierarchies().filter(({ root }) => canWrite(root));
  const chosen = hierarchies.find(({ controllers }) => controllers.includes('pids')) ?? hierarchies[0];
  if (chosen === undefined) {
    context.skip('needs a cgroup file system it may write to');
    return;
  }
  const path = `/tubelet-test-${process.pid}`;
  const inner = join(chosen.root, path, 'inner');
  try {
    mkdirSync(inner, { recursive: true });
  } catch {
    context.skip('may not make cgroups here');
    return;
  }
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  try {
    writeFileSync(join(inner, 'cgroup.procs'), String(child.pid));
    assert.deepEqual(await removeCgroup(path), { removed: false, busy: [inner] });
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  assert.deepEqual(await removeCgroup(path), { removed: true });
  assert.ok(!existsSync(join(chosen.root, path)));
});

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
