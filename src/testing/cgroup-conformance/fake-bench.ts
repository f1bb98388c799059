import { cgroupPath, type CgroupDriver } from '../../model/cgroup-names.ts';
import type { CgroupVersion } from '../../model/cgroup-values.ts';
import { FakeSystemd } from '../fake-systemd.ts';
import { MemoryCgroupTree } from '../memory-cgroup-tree.ts';
import type { CgroupBench } from './bench.ts';

const controllers: ReadonlySet<string> = new Set(['cpu', 'cpuacct', 'cpuset', 'memory', 'hugetlb', 'pids']);

interface FakeBench extends CgroupBench {
  readonly memory: MemoryCgroupTree;
  readonly systemd: FakeSystemd;
}

/** A machine's cgroups in memory. */
export function fakeBench(version: CgroupVersion, driver: CgroupDriver): FakeBench {
  const tree = Object.assign(new MemoryCgroupTree(), { controllers });
  const systemd = new FakeSystemd(tree);
  const root = ['conformance'];
  tree.make(cgroupPath(root, driver));
  const identities = new WeakMap<object, string>();
  let made = 0;
  let pid = 1_000;
  return {
    root,
    tree,
    memory: tree,
    systemd,
    units: driver === 'systemd' ? systemd : undefined,
    processes: { version, own: () => new Map(), isInside: () => true, make: () => {}, enter: async () => {} },
    read: (path, controller, file) => tree.read(path, controller, file),
    identity(path) {
      const group = tree.groups.get(path);
      if (group === undefined) return '';
      if (!identities.has(group)) identities.set(group, String(++made));
      return identities.get(group) ?? '';
    },
    async property(unit, name) {
      const value = systemd.slices.get(unit)?.get(name);
      return value === undefined ? undefined : String(value);
    },
    async occupy(path) {
      const [inside, own] = [`${path}/inside`, pid++];
      tree.make(inside);
      tree.processes.set(inside, [own]);
      tree.groups.get(path)?.set(version === 1 ? 'memory.usage_in_bytes' : 'memory.current', '4096');
      return () => [...tree.processes.values()].some((pids) => pids.includes(own));
    },
    cripple(path) {
      tree.lacking.set(path, { what: version === 1 ? 'paths' : 'controllers', names: ['cpu'] });
    },
    async removeBehind(path) {
      await tree.remove(path);
    },
    async reload() {},
    async close() {},
  };
}
