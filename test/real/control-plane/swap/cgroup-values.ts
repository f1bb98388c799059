import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cgroupHierarchies, listMounts } from '../../../../src/up/cgroups.ts';

/** What an agent may write, in both versions of the hierarchy. */
const knobs = [
  'cpu.shares',
  'cpu.cfs_quota_us',
  'cpu.cfs_period_us',
  'cpu.weight',
  'cpu.max',
  'cpu.idle',
  'memory.limit_in_bytes',
  'memory.max',
  'memory.min',
  'memory.high',
  'memory.oom.group',
  'pids.max',
  'hugetlb.2MB.limit_in_bytes',
  'cpuset.cpus',
  'cpuset.mems',
] as const;

/** Hierarchy and knob → value, for a cgroup by its path below the roots; hierarchies without it say so. */
export function cgroupValues(path: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const root of cgroupHierarchies(listMounts())) {
    const folder = join(root, path);
    values.set(root, existsSync(folder) ? 'is there' : 'is not there');
    for (const knob of knobs) {
      const file = join(folder, knob);
      if (existsSync(file)) values.set(`${root} ${knob}`, readFileSync(file, 'utf8').trim());
    }
  }
  return values;
}
