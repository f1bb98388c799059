import { TubeletError } from '../base/errors.ts';
import type { CgroupMissing } from '../model/cgroup-missing.ts';
import type { CgroupSetting } from '../model/cgroup-values.ts';

/** The cgroups of a machine in memory: one tree, files that hold what was last written. */
export class MemoryCgroupTree {
  /** Path → file → content. */
  readonly groups = new Map<string, Map<string, string>>([['/', new Map()]]);
  /** Path → processes in it. */
  readonly processes = new Map<string, number[]>();
  /** What a cgroup that is there lacks; until it is made again. */
  readonly lacking = new Map<string, CgroupMissing>();
  /** Processes that cannot be killed. */
  readonly immortal = new Set<number>();
  /** Answers why a write is refused. */
  refuse: (path: string, setting: CgroupSetting) => string | undefined = () => undefined;
  /** Holds removals up until it is done. */
  removing: Promise<void> = Promise.resolve();
  writes = 0;

  missing(path: string): CgroupMissing | undefined {
    return this.groups.has(path) ? this.lacking.get(path) : { what: 'paths', names: [path] };
  }

  make(path: string): void {
    const parts = path.split('/').slice(1);
    for (const [index] of parts.entries()) {
      const above = `/${parts.slice(0, index + 1).join('/')}`;
      if (!this.groups.has(above)) this.groups.set(above, new Map());
      this.lacking.delete(above);
    }
  }

  write(path: string, settings: readonly CgroupSetting[]): void {
    const files = this.groups.get(path);
    if (files === undefined) throw new TubeletError('notFound', `no cgroup ${path}`);
    for (const setting of settings) {
      const why = this.refuse(path, setting);
      if (why !== undefined) throw new TubeletError('conflict', why);
      this.writes++;
      files.set(setting.file, setting.value);
    }
  }

  read(path: string, _controller: string, file: string): string | undefined {
    return this.groups.get(path)?.get(file);
  }

  children(path: string): readonly string[] {
    const names = [...this.groups.keys()]
      .filter((other) => other.startsWith(`${path}/`))
      .map((other) => other.slice(path.length + 1).split('/')[0] ?? '');
    return [...new Set(names)];
  }

  async kill(path: string): Promise<{ readonly busy: readonly string[]; readonly processes: readonly number[] }> {
    const within = [...this.processes.keys()].filter((other) => other === path || other.startsWith(`${path}/`));
    const found = within.flatMap((each) => this.processes.get(each) ?? []);
    const processes = found.filter((pid) => !this.immortal.has(pid));
    for (const each of within) {
      const left = this.processes.get(each)?.filter((pid) => this.immortal.has(pid)) ?? [];
      if (left.length > 0) this.processes.set(each, left);
      else this.processes.delete(each);
    }
    return { busy: within.filter((each) => this.processes.has(each)), processes };
  }

  async remove(path: string): Promise<{ removed: boolean; busy?: readonly string[]; processes: readonly number[] }> {
    await this.removing;
    const within = [...this.groups.keys()].filter((other) => other === path || other.startsWith(`${path}/`));
    const found = within.flatMap((each) => this.processes.get(each) ?? []);
    const processes = found.filter((pid) => !this.immortal.has(pid));
    const busy = within.filter((each) => this.processes.get(each)?.some((pid) => this.immortal.has(pid)));
    if (busy.length > 0) return { removed: false, busy, processes };
    for (const each of within) {
      this.groups.delete(each);
      this.processes.delete(each);
    }
    return { removed: true, processes };
  }

  /** Everything that stands in one cgroup, as text: `cpu.shares=2 pids.max=100`. */
  values(path: string): string | undefined {
    const files = this.groups.get(path);
    return files && [...files].map(([file, value]) => `${file}=${value}`).join(' ');
  }
}
