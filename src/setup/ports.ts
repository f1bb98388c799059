import type { ProgramResult } from '../model/program-calls.ts';

/** The machine, as far as the agent sets it up for its pods. */
export interface SetupMachine {
  readonly process: OwnProcess;
  readonly tunables: KernelTunables;
  readonly folders: SetupFolders;
  readonly programs: SetupPrograms;
  readonly processes: MachineProcesses;
  /** The text of /proc/swaps; undefined where the kernel has no such file. */
  swaps(): string | undefined;
}

/** All processes, and the cgroups they are in. */
export interface MachineProcesses {
  /** Those in the root itself. */
  inRoot(): readonly number[];
  /** True also for one that has ended. */
  isKernelThread(pid: number): boolean;
  /** Makes a cgroup. */
  make(path: string): void;
  /** Moves a process with all its threads. */
  enter(path: string, pid: number): Promise<void>;
}

interface SetupPrograms {
  /** Runs a program to its end, within bounds of time and output; undefined when the machine has no such program. */
  run(program: string, args: readonly string[]): Promise<ProgramResult | undefined>;
}

/** The agent as a process of the machine. Refusals for lack of privilege are of the kind `denied`. */
export interface OwnProcess {
  oomScoreAdj(): number;
  setOomScoreAdj(value: number): void;
  /** Soft and hard limit at once. */
  setMaxOpenFiles(count: number): Promise<void>;
  inUserNamespace(): boolean;
  /** Whether it counts processes as the first process of the machine does. */
  hasPidsOfMachine(): boolean;
}

/** Settings of the kernel, by their path below /proc/sys. */
export interface KernelTunables {
  read(name: string): string;
  write(name: string, value: string): void;
}

export interface SetupFolders {
  /** Makes a folder with those above it; one that is there stays as it is. */
  ensure(path: string, mode: number): Promise<void>;
  /** Without links. */
  real(path: string): Promise<string>;
  /** In the order of the kernel's table. */
  mounts(): readonly MountPropagation[];
  bindOntoItself(path: string): Promise<void>;
  makeShared(path: string): Promise<void>;
  /** Mounts a tmpfs in a new folder below this one, and removes both. */
  tryTmpfs(below: string, option: string): Promise<void>;
  /** The label of SELinux. */
  setLabel(path: string, label: string): Promise<void>;
}

export interface MountPropagation {
  readonly mountPoint: string;
  /** Such as `shared:1`. */
  readonly optionalFields: readonly string[];
}
