import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '../../base/clock.ts';
import { cgroupHierarchies, HostCgroups, readMachineInfo } from '../../host/index.ts';
import { cgroupPath, sliceUnit, type CgroupDriver } from '../../model/cgroup-names.ts';
import type { CgroupVersion } from '../../model/cgroup-values.ts';
import type { SystemdUnits } from '../../model/systemd-units.ts';
import type { CgroupBench } from './bench.ts';

const systemctl = async (...words: readonly string[]): Promise<string> =>
  (await promisify(execFile)('systemctl', words)).stdout;

async function shown(unit: string, ...names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const lines = (await systemctl('show', `--property=${names.join(',')}`, unit)).trim().split('\n');
  return new Map(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

let opened = 0;

interface RealBenchOptions {
  readonly version: CgroupVersion;
  readonly driver: CgroupDriver;
  readonly clock: Clock;
  /** Of the machine's systemd; undefined with cgroupfs. */
  readonly units: SystemdUnits | undefined;
}

/** The kernel's cgroups, below a root of the bench's own. */
export async function realBench({ version, driver, clock, units }: RealBenchOptions): Promise<CgroupBench> {
  const hierarchies = cgroupHierarchies();
  const trees = hierarchies.filter((tree) => tree.version === version);
  const tree = HostCgroups.open({ version, clock, hierarchies });
  const root = [`tubelettest${process.pid}n${++opened}`];
  const rootPath = cgroupPath(root, driver);
  const killAll: (() => void)[] = [];
  await units?.startTransientUnit(sliceUnit(root), []);
  tree.make(rootPath, { besideSystemd: units !== undefined });

  const treeOf = (controller: string): string =>
    trees.find(({ controllers }) => version === 2 || controllers.includes(controller))?.root ?? '/nowhere';
  const textOf = (file: string): string | undefined =>
    existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
  return {
    root,
    tree,
    cpus: readMachineInfo().cpuList,
    units,
    processes: { version, own: () => new Map(), isInside: () => true, make: () => {}, enter: async () => {} },
    read: (path, controller, file) => textOf(join(treeOf(controller), path, file)),
    identity(path) {
      if (!hierarchies.some((each) => existsSync(join(each.root, path)))) return '';
      return String(statSync(join(treeOf('memory'), path), { throwIfNoEntry: false })?.ino ?? 'without memory');
    },
    async property(unit, name) {
      const found = await shown(unit, 'ActiveState', name);
      return found.get('ActiveState') === 'active' ? found.get(name) : undefined;
    },
    async remembers(unit) {
      const found = await shown(unit, 'ActiveState', 'FragmentPath', 'DropInPaths');
      return [...found.values()].join(' ').trim() !== 'inactive';
    },
    settle: () => clock.sleep(20),
    async occupy(path) {
      const inside = `${path}/inside`;
      tree.make(inside);
      const child = spawn('sleep', ['3600'], { stdio: 'ignore' });
      killAll.push(() => child.kill('SIGKILL'));
      for (const each of trees) writeFileSync(join(each.root, inside, 'cgroup.procs'), String(child.pid));
      return () => /^\d+ \(.*\) [^Z]/.test(textOf(`/proc/${child.pid}/stat`) ?? '');
    },
    cripple(path) {
      if (version === 1) rmdirSync(join(treeOf('memory'), path));
      else writeFileSync(join(treeOf(''), dirname(path), 'cgroup.subtree_control'), '-pids');
    },
    async removeBehind(path) {
      await tree.remove(path);
    },
    async reload() {
      await systemctl('daemon-reload');
    },
    async close() {
      for (const kill of killAll) kill();
      await tree.kill(rootPath);
      await units?.stopUnit(sliceUnit(root));
      await tree.remove(rootPath);
    },
  };
}
