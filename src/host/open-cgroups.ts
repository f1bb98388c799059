import type { Clock } from '../base/clock.ts';
import type { CgroupVersion } from '../model/cgroup-values.ts';
import { HostCgroups } from './cgroup-tree.ts';
import { cgroupHierarchies } from './pod-cgroups.ts';
import { HostProcessTree } from './process-tree.ts';

/** The cgroups of this machine: those of pods, and those of this process. */
interface OpenCgroups {
  readonly tree: HostCgroups;
  readonly processes: HostProcessTree;
}

/** Reads the table of mounts. */
export function openCgroups(options: { readonly version: CgroupVersion; readonly clock: Clock }): OpenCgroups {
  const { version, clock } = options;
  const hierarchies = cgroupHierarchies();
  const tree = HostCgroups.open({ version, clock, hierarchies });
  const processes = new HostProcessTree({ cgroups: tree, clock, hierarchies });
  return { tree, processes };
}
