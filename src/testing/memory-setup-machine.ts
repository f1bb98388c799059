import { TubeletError } from '../base/errors.ts';
import type { MountPropagation, SetupMachine } from '../setup/index.ts';
import { MemoryIptables } from './memory-iptables.ts';
import type { MemoryFiles } from './memory-files.ts';

/** What an operator wants of a kernel, as the Go kubelet sets it. */
const goodTunables: readonly (readonly [string, string])[] = [
  ['vm/overcommit_memory', '1'],
  ['vm/panic_on_oom', '0'],
  ['kernel/panic', '10'],
  ['kernel/panic_on_oops', '1'],
  ['kernel/keys/root_maxkeys', '1000000'],
  ['kernel/keys/root_maxbytes', '25000000'],
];

/** A machine in memory that can be set up: the whole of it is shared, without swap, and the kernel has what pods need. */
export class MemorySetupMachine implements SetupMachine {
  readonly values = new Map<string, string>(goodTunables);
  readonly labels = new Map<string, string>();
  /** What was changed, in order. */
  readonly changes: string[] = [];
  /** What the agent may not do, by the words of `changes`. */
  readonly denied = new Set<string>();
  mountTable: MountPropagation[] = [{ mountPoint: '/', optionalFields: ['shared:1'] }];
  swapText: string | undefined = 'Filename\tType\tSize\tUsed\tPriority\n';
  score = 0;
  maxOpenFiles: number | undefined;
  userNamespace = false;
  hostPids = true;
  readonly #files: Pick<MemoryFiles, 'makeFolder'>;

  constructor(files: Pick<MemoryFiles, 'makeFolder'>) {
    this.#files = files;
  }

  readonly process: SetupMachine['process'] = {
    oomScoreAdj: () => this.score,
    setOomScoreAdj: (value) => {
      this.#change(`oom_score_adj ${value}`);
      this.score = value;
    },
    setMaxOpenFiles: async (count) => {
      this.#change('rlimit');
      this.maxOpenFiles = count;
    },
    inUserNamespace: () => this.userNamespace,
    hasPidsOfMachine: () => this.hostPids,
  };

  readonly tunables: SetupMachine['tunables'] = {
    read: (name) => {
      const value = this.values.get(name);
      if (value === undefined) throw new TubeletError('notFound', `open /proc/sys/${name}: no such file or directory`);
      return `${value}\n`;
    },
    write: (name, value) => {
      this.#change(`${name} ${value}`);
      this.values.set(name, value);
    },
  };

  readonly folders: SetupMachine['folders'] = {
    ensure: (path, mode) => this.#files.makeFolder(path, mode),
    real: async (path) => path,
    mounts: () => this.mountTable,
    bindOntoItself: async (path) => {
      this.#change(`bind ${path}`);
      this.mountTable.push({ mountPoint: path, optionalFields: [] });
    },
    makeShared: async (path) => {
      this.#change(`share ${path}`);
      this.mountTable.push({ mountPoint: path, optionalFields: ['shared:2'] });
    },
    tryTmpfs: async (below, option) => this.#change(`tmpfs ${option} below ${below}`),
    setLabel: async (path, label) => {
      this.#change(`label ${path}`);
      this.labels.set(path, label);
    },
  };

  /** Processes in the root of the cgroups; those of the kernel have no program. */
  readonly inRoot = new Map<number, { readonly ofKernel?: boolean }>([[1, {}]]);
  readonly moved = new Map<number, string>();

  readonly processes: SetupMachine['processes'] = {
    inRoot: () => [...this.inRoot.keys()],
    isKernelThread: (pid) => this.inRoot.get(pid)?.ofKernel ?? false,
    make: () => {},
    enter: async (path, pid) => {
      this.#change(`move ${pid}`);
      this.inRoot.delete(pid);
      this.moved.set(pid, path);
    },
  };

  readonly iptables = new MemoryIptables();
  readonly programs: SetupMachine['programs'] = this.iptables;

  swaps(): string | undefined {
    return this.swapText;
  }

  #change(what: string): void {
    if (this.denied.has(what)) throw new TubeletError('denied', `${what}: EPERM`);
    this.changes.push(what);
  }
}
