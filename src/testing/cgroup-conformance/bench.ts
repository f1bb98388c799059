import type { CgroupDriver, CgroupName } from '../../model/cgroup-names.ts';
import type { CgroupVersion } from '../../model/cgroup-values.ts';
import type { SystemdUnits } from '../../model/systemd-units.ts';
import type { CgroupTree, ProcessTree } from '../../resources/cgroups/index.ts';

/** Cgroups to play with. */
export interface CgroupBench {
  /** There already, and removed with all below it at the end. */
  readonly root: CgroupName;
  readonly tree: CgroupTree & { readonly controllers: ReadonlySet<string> };
  readonly processes: ProcessTree;
  /** All CPUs, as a list. */
  readonly cpus: string;
  /** Undefined where systemd is not asked. */
  readonly units: SystemdUnits | undefined;
  /** What stands in a file of the cgroup at a path, without the line end; undefined where there is no such file. */
  read(path: string, controller: string, file: string): string | undefined;
  /** Which cgroup it is: one that was made anew is another. Empty where there is none in any tree. */
  identity(path: string): string;
  /** A property of a slice as systemd has it, as text; undefined where it is not active. */
  property(unit: string, name: string): Promise<string | undefined>;
  /** Whether systemd remembers anything of a slice: that it is active, or properties. */
  remembers(unit: string): Promise<boolean>;
  /** Starts a process in a cgroup of its own below this one, as containers have it. Answers whether it still runs. */
  occupy(path: string): Promise<() => boolean>;
  /** Takes away what makes the cgroup whole: a tree of version 1, or a controller of version 2. */
  cripple(path: string): void;
  /** Another program removes the directories, without a word to systemd. */
  removeBehind(path: string): Promise<void>;
  /** Has systemd write its units anew. */
  reload(): Promise<void>;
  /** Lets work that a test cannot await go on for a while. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export interface CgroupSubject {
  readonly name: string;
  readonly version: CgroupVersion;
  readonly driver: CgroupDriver;
  /** A real systemd can reload its units. */
  readonly reloads?: boolean;
  readonly open: () => Promise<CgroupBench>;
}
