import { TubeletError } from '../../base/errors.ts';
import { missingText } from '../../model/cgroup-missing.ts';
import { cgroupPath, parseCgroupName, quotedCgroup, sliceUnit, type CgroupName } from '../../model/cgroup-names.ts';
import type { CgroupSetting, CgroupValues, CgroupVersion } from '../../model/cgroup-values.ts';
import type { SystemdUnits, UnitProperty } from '../../model/systemd-units.ts';
import type { CgroupWriter } from './cgroup-writer.ts';
import type { CgroupManager, CgroupTree, TreeRemoval } from './ports.ts';
import { unitProperties } from './unit-properties.ts';

interface SystemdManagerDeps {
  readonly tree: CgroupTree;
  readonly writer: CgroupWriter;
  readonly units: SystemdUnits;
  readonly version: CgroupVersion;
}

/**
 * The driver `systemd`: every cgroup is a slice. systemd gets the values it has properties for, so that it keeps them when
 * it writes its units anew; the files are written behind it, because properties are coarser and there are fewer of them.
 */
export class SystemdManager implements CgroupManager {
  readonly #deps: SystemdManagerDeps;

  constructor(deps: SystemdManagerDeps) {
    this.#deps = deps;
  }

  pathOf(name: CgroupName): string {
    return cgroupPath(name, 'systemd');
  }

  missing(name: CgroupName): string | undefined {
    const missing = this.#deps.tree.missing(this.pathOf(name));
    return missing && missingText(name, missing);
  }

  /** A slice that is there keeps its first properties, and gets the values. */
  async create(name: CgroupName, values: CgroupValues): Promise<void> {
    const { units, tree, version } = this.#deps;
    requireReadable(name);
    const unit = sliceUnit(name);
    const path = this.pathOf(name);
    const properties = sliceProperties(unit, sliceUnit(name.slice(0, -1)), version);
    await units.startTransientUnit(unit, properties);
    // systemd makes a cgroup for a slice in some trees, and hands down some controllers.
    tree.make(path, { besideSystemd: true });
    if (tree.missing(path)?.what === 'paths') {
      // Another program has removed the cgroup in systemd's own tree, so nothing can be running there.
      await units.stopUnit(unit);
      await units.startTransientUnit(unit, properties);
      tree.make(path, { besideSystemd: true });
    }
    await this.update(name, values);
  }

  async update(name: CgroupName, values: CgroupValues): Promise<void> {
    const { units, tree, writer, version } = this.#deps;
    const path = this.pathOf(name);
    const missing = tree.missing(path);
    // systemd would keep the properties of a slice that is not there until the machine is started anew.
    if (missing !== undefined && missing.what !== 'controllers') {
      throw new TubeletError('notFound', missingText(name, missing));
    }
    const properties = unitProperties(values, { version, systemd: await units.version() });
    const quota = values.cpuQuotaUs === undefined ? this.#quota(path) : [];
    if (properties.length > 0) await units.setUnitProperties(sliceUnit(name), properties);
    writer.write(path, values);
    tree.write(path, quota);
  }

  /** systemd writes all values of a slice when one changes, and knows a quota only to the hundredth of a CPU. */
  #quota(path: string): readonly CgroupSetting[] {
    const { tree, version } = this.#deps;
    const file = version === 1 ? 'cpu.cfs_quota_us' : 'cpu.max';
    const value = tree.read(path, 'cpu', file);
    return value === undefined ? [] : [{ controller: 'cpu', file, value }];
  }

  /** systemd would wait long for processes to end by themselves, so they are killed first. */
  async destroy(name: CgroupName): Promise<TreeRemoval> {
    const { units, tree } = this.#deps;
    const path = this.pathOf(name);
    const killed = await tree.kill(path);
    if (killed.busy.length > 0) return { removed: false, ...killed };
    await units.stopUnit(sliceUnit(name));
    const removal = await tree.remove(path);
    return { ...removal, processes: [...killed.processes, ...removal.processes] };
  }

  /** Scopes and services below a slice are not of the agent. */
  children(name: CgroupName): readonly CgroupName[] {
    const unit = sliceUnit(name);
    return this.#deps.tree
      .children(this.pathOf(name))
      .filter((child) => child.endsWith('.slice'))
      .map((child) => parseCgroupName(child, 'systemd'))
      .filter((child) => sliceUnit(child.slice(0, -1)) === unit)
      .map((child) => [...name, child.at(-1) ?? '']);
  }

  memoryUsage(name: CgroupName): bigint {
    return this.#deps.writer.memoryUsage(this.pathOf(name));
  }
}

/** In the name of a slice an underscore stands for a dash: the name of another pod would be read from it. */
function requireReadable(name: CgroupName): void {
  const last = name.slice(-1);
  if (last.some((part) => /[_/]/.test(part))) {
    throw new TubeletError('invalid', `invalid character in component ${quotedCgroup(last)} of CgroupName`);
  }
}

/** What a slice is made with. Its place follows from its name, and its values are set afterwards. */
function sliceProperties(unit: string, parent: string, version: CgroupVersion): readonly UnitProperty[] {
  const flag = (name: string, value: boolean): UnitProperty => ({ name, value: { type: 'b', value } });
  return [
    { name: 'Description', value: { type: 's', value: `libcontainer container ${unit}` } },
    { name: 'Wants', value: { type: 'as', value: [parent] } },
    flag('MemoryAccounting', true),
    flag('CPUAccounting', true),
    flag(version === 2 ? 'IOAccounting' : 'BlockIOAccounting', true),
    flag('TasksAccounting', true),
    flag('DefaultDependencies', false),
  ];
}
