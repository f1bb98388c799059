import { cgroupPath, parseCgroupName, type CgroupDriver } from '../../model/cgroup-names.ts';
import type { CgroupVersion } from '../../model/cgroup-values.ts';
import type { UnitProperty } from '../../model/systemd-units.ts';
import { FakeSystemd } from '../fake-systemd.ts';
import { MemoryCgroupTree } from '../memory-cgroup-tree.ts';
import type { CgroupBench } from './bench.ts';

const controllers: ReadonlySet<string> = new Set(['cpu', 'cpuacct', 'cpuset', 'memory', 'hugetlb', 'pids']);

interface FakeBench extends CgroupBench {
  readonly memory: MemoryCgroupTree;
  readonly systemd: FakeSystemd;
}

/** Writes all values of a slice when one changes, a quota to the hundredth of a CPU, as the real one. */
class CoarseSystemd extends FakeSystemd {
  readonly #memory: MemoryCgroupTree;
  readonly #version: CgroupVersion;

  constructor(memory: MemoryCgroupTree, version: CgroupVersion) {
    super(memory);
    this.#memory = memory;
    this.#version = version;
  }

  override async setUnitProperties(unit: string, properties: readonly UnitProperty[]): Promise<void> {
    await super.setUnitProperties(unit, properties);
    const perSecond = this.slices.get(unit)?.get('CPUQuotaPerSecUSec');
    const files = this.#memory.groups.get(cgroupPath(parseCgroupName(unit, 'systemd'), 'systemd'));
    if (typeof perSecond !== 'bigint' || files === undefined) return;
    const quota = perSecond === (1n << 64n) - 1n ? -1n : perSecond / 10n;
    if (this.#version === 1) files.set('cpu.cfs_quota_us', String(quota));
    else files.set('cpu.max', `${quota < 0n ? 'max' : quota} 100000`);
  }
}

/** A machine's cgroups in memory. */
export function fakeBench(version: CgroupVersion, driver: CgroupDriver): FakeBench {
  const tree = Object.assign(new MemoryCgroupTree(), { controllers });
  const systemd = new CoarseSystemd(tree, version);
  const root = ['conformance'];
  tree.make(cgroupPath(root, driver));
  const identities = new WeakMap<object, string>();
  let made = 0;
  let pid = 1_000;
  return {
    root,
    tree,
    memory: tree,
    cpus: '0-1',
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
    remembers: async (unit) => systemd.slices.has(unit) || systemd.inactive.has(unit),
    settle: () => new Promise((resolve) => setImmediate(resolve)),
    async reload() {},
    async close() {},
  };
}
