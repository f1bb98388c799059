import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { HostProcessTree, type HostProcessTreeOptions } from './process-tree.ts';

const path = '/agents/kubelet';

function setUp(context: TestContext, version: 1 | 2, more: Partial<HostProcessTreeOptions> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'tubelet-process-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const names = version === 1 ? ['cpu', 'memory'] : ['unified'];
  const hierarchies = names.map((name) => ({
    version,
    root: join(root, name),
    controllers: version === 1 ? [name] : [],
  }));
  // A kubelet does not use the tree of version 2 of a hybrid machine.
  if (version === 1) hierarchies.push({ version: 2, root: join(root, 'other'), controllers: [] });
  for (const process of ['self', '1']) {
    mkdirSync(join(root, process, 'ns'), { recursive: true });
    symlinkSync('pid:[1]', join(root, process, 'ns/pid'));
  }
  const place = (text: string): void => writeFileSync(join(root, 'self/cgroup'), text);
  place('');
  const clock = new FakeClock();
  const cgroups = {
    version,
    make: (cgroup: string) => {
      for (const name of names) mkdirSync(join(root, name, cgroup), { recursive: true });
    },
  };
  const tree = new HostProcessTree({ cgroups, clock, hierarchies, proc: root, ...more });
  const entered = (name: string): string => readFileSync(join(root, name, path, 'cgroup.procs'), 'utf8');
  return { tree, clock, root, place, entered, names };
}

for (const version of [1, 2] as const) {
  test(`version ${version}: enters every tree of that version`, async (context) => {
    const { tree, names, entered } = setUp(context, version);
    tree.make(path);
    await tree.enter(path);
    for (const name of names) assert.equal(entered(name), String(process.pid));
  });
}

test('is inside only if it is in every tree', (context) => {
  const { tree, place } = setUp(context, 1);
  assert.equal(tree.isInside(path), false);
  place(`1:cpu:${path}\n2:memory:/other\n0::/\n`);
  assert.equal(tree.isInside(path), false);
  place(`1:cpu:${path}\n2:memory:${path}\n0::/\n`);
  assert.equal(tree.isInside(path), true);
});

describe('a cgroup that does not take the process', () => {
  const refusing = (code: string, times: number) => {
    const tries: string[] = [];
    const write = (file: string): void => {
      tries.push(file);
      if (tries.length <= times) throw Object.assign(new Error(code), { code });
    };
    return { tries, write };
  };

  test('because it is new is tried again', async (context) => {
    const { tries, write } = refusing('EINVAL', 4);
    const { tree, clock } = setUp(context, 2, { write });
    const entering = tree.enter(path);
    await clock.advance(4 * 30);
    await entering;
    assert.equal(tries.length, 5);
  });

  test('is not tried for ever, and its refusal is reported', async (context) => {
    for (const [code, tried] of [
      ['EINVAL', 5],
      ['EBUSY', 1],
    ] as const) {
      const { tries, write } = refusing(code, 9);
      const { tree, clock } = setUp(context, 2, { write });
      const refused = assert.rejects(
        tree.enter(path),
        new RegExp(`failed to move PID \\d+ to .*/cgroup.procs: ${code}`),
      );
      await clock.advance(1_000);
      await refused;
      assert.equal(tries.length, tried);
    }
  });
});

test('in a container the agent stays where it is', async (context) => {
  const { tree, root } = setUp(context, 2);
  tree.make(path);
  rmSync(join(root, '1/ns/pid'));
  symlinkSync('pid:[2]', join(root, '1/ns/pid'));
  await assert.rejects(tree.enter(path), /runs in a container/);
});

test('an unreadable first process is not that of a container', async (context) => {
  const refuse = (code: string) => (): string => {
    throw Object.assign(new Error(code), { code });
  };
  const { tree, entered, names } = setUp(context, 2, { readLink: refuse('EACCES') });
  tree.make(path);
  await tree.enter(path);
  for (const name of names) assert.equal(entered(name), String(process.pid));
  await assert.rejects(setUp(context, 2, { readLink: refuse('EIO') }).tree.enter(path), /EIO/);
});

test('never enters the root or leaves the tree', async (context) => {
  const { tree } = setUp(context, 2);
  for (const wrong of ['/', '/../x', 'kubelet', '/a/'])
    await assert.rejects(tree.enter(wrong), /not the path of a cgroup/);
});

describe('processes of the machine', () => {
  for (const version of [1, 2] as const) {
    test(`version ${version}: those in the root are listed, and moved one by one`, async (context) => {
      const { tree, root, names, entered } = setUp(context, version, {});
      for (const name of names) {
        mkdirSync(join(root, name), { recursive: true });
        writeFileSync(join(root, name, 'cgroup.procs'), '1\n2\n77\n');
      }
      if (version === 1) assert.throws(() => tree.inRoot(), { kind: 'unsupported' });
      else assert.deepEqual(tree.inRoot(), [1, 2, 77]);
      tree.make(path);
      await tree.enter(path, 77);
      for (const name of names) assert.equal(entered(name), '77');
    });
  }

  test('version 1: the tree of devices has them all', (context) => {
    const root = mkdtempSync(join(tmpdir(), 'tubelet-process-'));
    context.after(() => rmSync(root, { recursive: true, force: true }));
    const { tree } = setUp(context, 1, { hierarchies: [{ version: 1, root, controllers: ['devices'] }] });
    writeFileSync(join(root, 'cgroup.procs'), '5\n');
    assert.deepEqual(tree.inRoot(), [5]);
  });

  test('a thread of the kernel has no program', (context) => {
    const { tree, root } = setUp(context, 2);
    for (const pid of ['2', '77']) mkdirSync(join(root, pid));
    symlinkSync('/usr/bin/sleep', join(root, '77/exe'));
    assert.deepEqual(
      [2, 77, 99].map((pid) => tree.isKernelThread(pid)),
      [true, false, true],
    );
  });
});
