import { basename } from 'node:path';
import { iptablesRemoval } from './iptables-plan.ts';
import { recordedProcesses, type Journal } from './journal.ts';
import type { InstanceNames } from './names.ts';
import type { Link } from './network.ts';
import type { ProcessIdentity, ProcessInfo } from './process-table.ts';

/** What is on the machine, as far as it may belong to an instance. */
export interface ObservedSystem {
  readonly bootId: string;
  readonly processes: readonly ProcessInfo[];
  /** The observing process and its parents, whose arguments contain our paths too and which must live. */
  readonly self: readonly number[];
  /** Mount points in the order they were made. */
  readonly mounts: readonly string[];
  readonly links: readonly Link[];
  /** Output of iptables-save. */
  readonly iptables: string;
  /** Cgroup folders below our cgroup root and of our containers, children first. */
  readonly cgroups: readonly string[];
  /** Files and links outside of our folders that belong to us alone. */
  readonly strayFiles: readonly string[];
  /** Folders of ours that exist. */
  readonly folders: readonly string[];
  /** Folders shared with others that are empty now. */
  readonly emptyShared: readonly string[];
}

interface Kill {
  readonly kind: 'kill';
  readonly process: ProcessIdentity;
  readonly what: string;
}

export type Removal =
  | Kill
  | { readonly kind: 'unmount'; readonly path: string }
  | { readonly kind: 'deleteLink'; readonly name: string }
  | { readonly kind: 'restoreIptables'; readonly input: string }
  | { readonly kind: 'removeCgroup'; readonly path: string }
  | { readonly kind: 'removeFile'; readonly path: string }
  | { readonly kind: 'removeFolder'; readonly path: string }
  | { readonly kind: 'removeEmptyFolder'; readonly path: string };

/**
 * The next things to remove, in order. Processes come alone, because they hold and make everything else; then kernel
 * objects; files last, the journal's folder at the very end, so that an interrupted removal can be continued.
 *
 *   containers ──> other processes ──> mounts, links, rules, cgroups, files ──> nothing left: empty plan
 */
export function planRemoval(
  names: InstanceNames,
  journal: Journal | undefined,
  observed: ObservedSystem,
): readonly Removal[] {
  const doomed = processesToKill(names, journal, observed);
  if (doomed.length > 0) return doomed;
  const ours = (path: string): boolean => isOurMount(names, journal, path);
  const iptables = iptablesRemoval(observed.iptables, names.network, journal?.foreignHostPorts ?? true);
  return [
    // Later mounts lie on top of or below earlier ones.
    ...observed.mounts
      .filter(ours)
      .toReversed()
      .map((path): Removal => ({ kind: 'unmount', path })),
    ...linksToDelete(names, observed.links).map((name): Removal => ({ kind: 'deleteLink', name })),
    ...(iptables === '' ? [] : [{ kind: 'restoreIptables', input: iptables } as const]),
    ...observed.cgroups.map((path): Removal => ({ kind: 'removeCgroup', path })),
    ...observed.strayFiles.map((path): Removal => ({ kind: 'removeFile', path })),
    ...observed.folders.map((path): Removal => ({ kind: 'removeFolder', path })),
    ...(journal?.absentBefore ?? [])
      .filter((path) => observed.emptyShared.includes(path))
      .map((path): Removal => ({ kind: 'removeEmptyFolder', path })),
  ];
}

/**
 * Without a journal there is no evidence that the root is ours: it may be a typing mistake. The root itself and the
 * manifests may be file systems that the user has mounted there.
 */
function isOurMount(names: InstanceNames, journal: Journal | undefined, path: string): boolean {
  if (path.startsWith(`${names.runDir}/`)) return true;
  if (journal === undefined || !path.startsWith(`${names.root}/`)) return false;
  return !isBelow(path, journal.manifests?.path ?? names.manifests);
}

function processesToKill(
  names: InstanceNames,
  journal: Journal | undefined,
  observed: ObservedSystem,
): readonly Kill[] {
  const recorded = journal === undefined ? [] : recordedProcesses(journal, observed.bootId);
  const doomed = new Map<number, Kill>();
  const add = (process: ProcessInfo, what: string): void => {
    if (doomed.has(process.pid) || observed.self.includes(process.pid)) return;
    doomed.set(process.pid, { kind: 'kill', process: { pid: process.pid, startTime: process.startTime }, what });
    // Containers are children of their shim and have neither its name nor its arguments.
    if (what !== 'shim' && what !== 'container') return;
    for (const child of observed.processes.filter((other) => other.parent === process.pid)) add(child, 'container');
  };
  for (const process of observed.processes) {
    const what = classifyProcess(names, process);
    if (what !== undefined) add(process, what);
    else if (recorded.some((known) => known.pid === process.pid && known.startTime === process.startTime)) {
      add(process, 'recorded');
    }
  }
  // A shim that outlives its containers reaps them; without it they would wait for an init that may be slow.
  const containers = [...doomed.values()].filter((removal) => removal.what === 'container');
  return containers.length > 0 ? containers : [...doomed.values()];
}

const runtimes: readonly string[] = ['containerd', 'crio'];

/**
 * The role of a process in the instance, judged by what only our own processes have: an argument that is exactly one of
 * our paths behind the option and the program that we start with it, or a cgroup below ours. Merely naming a path is
 * not enough: another program may be reading our logs.
 */
export function classifyProcess(names: InstanceNames, process: ProcessInfo): string | undefined {
  const program = basename(process.argv[0] ?? '');
  const valueOf = (option: string): string | undefined => {
    const at = process.argv.indexOf(option);
    return at < 0 ? undefined : process.argv[at + 1];
  };
  if (runtimes.includes(program) && valueOf('--config') === names.containerdConfig) return 'containerd';
  if (program.startsWith('containerd-shim') && valueOf('-address') === names.socket) return 'shim';
  if (program === 'conmon' && valueOf('--exit-dir')?.startsWith(`${names.runDir}/`) === true) return 'shim';
  if (program === 'runc' && valueOf('--root')?.startsWith(`${names.runcRoot}/`) === true) return 'runc';
  if (program === 'ctr' && valueOf('--address') === names.socket) return 'ctr';
  if (process.argv.includes(`--config=${names.kubeletConfig}`)) return 'agent';
  const roots = [names.cgroupRoot, names.cgroupSlice];
  if (process.cgroups.some((path) => roots.some((root) => isBelow(path, root)))) return 'container';
  return undefined;
}

/** Interfaces plugged into the bridge go first; their other ends in the pods vanish with them. */
function linksToDelete(names: InstanceNames, links: readonly Link[]): readonly string[] {
  const plugged = links.filter((link) => link.master === names.bridge).map((link) => link.name);
  return links.some((link) => link.name === names.bridge) ? [...plugged, names.bridge] : plugged;
}

export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
