import { readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import { processCgroupsIn, type ProcessCgroups } from '../model/process-cgroups.ts';
import type { HostCgroups } from './cgroup-tree.ts';
import { requirePath, type CgroupHierarchy } from './pod-cgroups.ts';
import { readPseudoFile } from './proc-usage-file.ts';

export interface HostProcessTreeOptions {
  readonly cgroups: Pick<HostCgroups, 'version' | 'make'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly hierarchies: readonly CgroupHierarchy[];
  readonly proc?: string;
  readonly readLink?: (path: string) => string;
  readonly write?: (file: string, pid: string) => void;
}

/** A new cgroup may not accept a process at once. */
const enterTries = 5;
const enterPauseMs = 30;

/** Where this process is among the cgroups of the machine. */
export class HostProcessTree {
  readonly version: 1 | 2;
  readonly #options: HostProcessTreeOptions;
  readonly #trees: readonly CgroupHierarchy[];

  constructor(options: HostProcessTreeOptions) {
    this.version = options.cgroups.version;
    this.#options = options;
    this.#trees = options.hierarchies.filter(({ version }) => version === this.version);
  }

  own(): ProcessCgroups {
    return processCgroupsIn(readPseudoFile(`${this.#proc}/self/cgroup`) ?? '');
  }

  /** Whether this process is in that cgroup, in every tree. */
  isInside(path: string): boolean {
    const own = this.own();
    return this.#trees.every(
      ({ version, controllers }) => own.get(version === 2 ? '' : (controllers[0] ?? '')) === path,
    );
  }

  make(path: string): void {
    this.#options.cgroups.make(path);
  }

  /** Processes in the root of the tree that counts: on version 1 every process is in each tree, and one is as good as another. */
  inRoot(): readonly number[] {
    const tree = this.#trees.find(({ version, controllers }) => version === 2 || controllers.includes('devices'));
    if (tree === undefined) throw new TubeletError('unsupported', 'there is no tree of cgroups for devices');
    const text = readPseudoFile(join(tree.root, 'cgroup.procs')) ?? '';
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map(Number);
  }

  /** A thread of the kernel has no program; neither has a process that has ended. */
  isKernelThread(pid: number): boolean {
    return !existsLink(`${this.#proc}/${pid}/exe`);
  }

  /** Moves a process with all its threads; this one unless another is named. */
  async enter(path: string, pid = process.pid): Promise<void> {
    requirePath(path);
    this.#requireHost();
    for (const { root } of this.#trees) await this.#enterTree(join(root, path, 'cgroup.procs'), pid);
  }

  async #enterTree(file: string, pid: number): Promise<void> {
    const { clock, write = writeFileSync } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        return write(file, String(pid));
      } catch (cause) {
        const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
        if (code !== 'EINVAL' || attempt === enterTries) {
          throw new TubeletError('internal', `failed to move PID ${pid} to ${file}: ${code}`, { cause });
        }
      }
      await clock.sleep(enterPauseMs);
    }
  }

  /**
   * A process with a namespace of process ids of its own is in a container, and its runtime decides its cgroup. If the
   * first process is unreadable, this is a hardened machine and not a container.
   */
  #requireHost(): void {
    const own = readlinkSync(`${this.#proc}/self/ns/pid`);
    if (own === (this.#unlessGuarded(`${this.#proc}/1/ns/pid`) ?? own)) return;
    throw new TubeletError('unsupported', 'the agent runs in a container and is not moved out of it');
  }

  #unlessGuarded(link: string): string | undefined {
    try {
      return (this.#options.readLink ?? readlinkSync)(link);
    } catch (error) {
      if (['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
      throw error;
    }
  }

  get #proc(): string {
    return this.#options.proc ?? '/proc';
  }
}

function existsLink(path: string): boolean {
  try {
    readlinkSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
