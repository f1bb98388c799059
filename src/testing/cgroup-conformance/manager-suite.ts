import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { sliceUnit, type CgroupName } from '../../model/cgroup-names.ts';
import { cgroupSettings, type CgroupValues } from '../../model/cgroup-values.ts';
import { CgroupfsManager, CgroupWriter, SystemdManager, type CgroupManager } from '../../resources/cgroups/index.ts';
import { MemoryLog } from '../memory-log.ts';
import type { CgroupBench, CgroupSubject } from './bench.ts';

const mebi = 1n << 20n;
const values: CgroupValues = {
  cpuShares: 512n,
  cpuQuotaUs: 12_300n,
  cpuPeriodUs: 100_000n,
  memoryBytes: 64n * mebi,
  pids: 99n,
};

/** Makes, changes and removes cgroups by their names. */
export function managerSuite({ version, driver, open, reloads = false }: CgroupSubject): void {
  const opened = async (context: TestContext) => {
    const bench = await open();
    context.after(() => bench.close());
    const manager = managerOf(bench);
    const group = [...bench.root, 'kubepods'];
    const below = [...group, 'pod0a1b-22'];
    const standsIn = (name: CgroupName, expected: CgroupValues): void => {
      for (const { controller, file, value, optional } of cgroupSettings(expected, version)) {
        if (!bench.tree.controllers.has(controller)) continue;
        const found = bench.read(manager.pathOf(name), controller, file);
        if (found !== undefined || optional !== true) assert.equal(found, value, `${file} of ${manager.pathOf(name)}`);
      }
    };
    return { bench, manager, group, below, standsIn };
  };
  const managerOf = ({ tree, units }: CgroupBench): CgroupManager => {
    const writer = new CgroupWriter({ log: new MemoryLog(), tree, version, controllers: tree.controllers });
    if (driver === 'cgroupfs') return new CgroupfsManager({ tree, writer });
    assert.ok(units, 'a bench of systemd has its units');
    return new SystemdManager({ tree, writer, units, version });
  };

  void test('a cgroup is there once it is made, with those above it', async (context) => {
    const { manager, group, below } = await opened(context);
    assert.match(manager.missing(below) ?? '', /"kubepods" "pod0a1b-22"\]/);
    await manager.create(below, {});
    assert.equal(manager.missing(below), undefined);
    assert.equal(manager.missing(group), undefined);
  });

  void test('its values are what the kernel has, to the last digit', async (context) => {
    const { manager, below, standsIn } = await opened(context);
    await manager.create(below, values);
    standsIn(below, values);
  });

  void test('values change in place, the others stay', async (context) => {
    const { bench, manager, below, standsIn } = await opened(context);
    await manager.create(below, values);
    const before = bench.identity(manager.pathOf(below));
    await manager.update(below, { memoryBytes: 32n * mebi, cpuShares: 2n });
    standsIn(below, { ...values, memoryBytes: 32n * mebi, cpuShares: 2n });
    await manager.update(below, { cpuQuotaUs: -1n, cpuPeriodUs: 100_000n });
    standsIn(below, { ...values, memoryBytes: 32n * mebi, cpuShares: 2n, cpuQuotaUs: -1n });
    assert.equal(bench.identity(manager.pathOf(below)), before);
  });

  void test('one that is there is taken over with what runs in it, and gets its values', async (context) => {
    const { bench, manager, below, standsIn } = await opened(context);
    await manager.create(below, { pids: 5n });
    const before = bench.identity(manager.pathOf(below));
    const runs = await bench.occupy(manager.pathOf(below));
    await managerOf(bench).create(below, values);
    standsIn(below, values);
    assert.equal(bench.identity(manager.pathOf(below)), before);
    assert.ok(runs());
  });

  void test('one that is not there cannot be changed', async (context) => {
    const { bench, manager, below } = await opened(context);
    await assert.rejects(manager.update(below, { pids: 5n }));
    await assertGone(bench, manager, below);
  });

  void test('those below are listed by their names, and nothing else', async (context) => {
    const { bench, manager, group, below } = await opened(context);
    assert.deepEqual(manager.children(group), []);
    await manager.create(below, {});
    await manager.create([...group, 'burstable', 'podx'], {});
    await bench.occupy(manager.pathOf(below));
    const names = manager.children(group).toSorted((a, b) => (a.join() < b.join() ? -1 : 1));
    assert.deepEqual(names, [[...group, 'burstable'], below]);
  });

  void test('it counts as absent when it lacks a tree or a controller, and is completed when it is made again', async (context) => {
    const { bench, manager, below, standsIn } = await opened(context);
    await manager.create(below, values);
    bench.cripple(manager.pathOf(below));
    assert.match(manager.missing(below) ?? '', version === 1 ? /some missing paths: / : /some missing controllers: /);
    await manager.create(below, values);
    assert.equal(manager.missing(below), undefined);
    standsIn(below, values);
  });

  void test('removing kills what runs below it, and leaves nothing', async (context) => {
    const { bench, manager, below } = await opened(context);
    await manager.create(below, values);
    const runs = await bench.occupy(manager.pathOf(below));
    const { removed, processes } = await manager.destroy(below);
    assert.deepEqual([removed, processes.length, runs()], [true, 1, false]);
    await assertGone(bench, manager, below);
  });

  void test('what is not there counts as removed', async (context) => {
    const { manager, below } = await opened(context);
    await manager.create(below, {});
    for (let time = 1; time <= 3; time++) {
      assert.deepEqual(await manager.destroy(below), { removed: true, processes: [] });
    }
  });

  void test('directories that another program removed leave no unit behind', async (context) => {
    const { bench, manager, below } = await opened(context);
    await manager.create(below, {});
    await bench.removeBehind(manager.pathOf(below));
    assert.equal((await manager.destroy(below)).removed, true);
    await assertGone(bench, manager, below);
  });

  void test('one that lost its directories is made anew', async (context) => {
    const { bench, manager, below, standsIn } = await opened(context);
    await manager.create(below, values);
    await bench.removeBehind(manager.pathOf(below));
    assert.notEqual(manager.missing(below), undefined);
    await manager.create(below, values);
    standsIn(below, values);
  });

  void test('memory in use is known', async (context) => {
    const { bench, manager, below } = await opened(context);
    await manager.create(below, values);
    await bench.occupy(manager.pathOf(below));
    assert.ok(manager.memoryUsage(below) > 0n);
  });

  async function assertGone(bench: CgroupBench, manager: CgroupManager, name: CgroupName): Promise<void> {
    assert.equal(bench.identity(manager.pathOf(name)), '');
    if (driver === 'systemd') assert.equal(await bench.remembers(sliceUnit(name)), false);
  }

  if (driver === 'cgroupfs') return;

  void test('systemd knows the values', async (context) => {
    const { bench, manager, below } = await opened(context);
    await manager.create(below, values);
    const unit = sliceUnit(below);
    assert.equal(await bench.property(unit, version === 1 ? 'MemoryLimit' : 'MemoryMax'), String(64n * mebi));
    assert.equal(await bench.property(unit, 'TasksMax'), '99');
  });

  if (!reloads) return;

  void test('values stay when systemd writes its units anew', async (context) => {
    const { bench, manager, below, standsIn } = await opened(context);
    await manager.create(below, { ...values, cpuQuotaUs: 20_000n });
    await bench.reload();
    standsIn(below, { ...values, cpuQuotaUs: 20_000n });
    assert.equal(manager.missing(below), undefined);
  });
}
