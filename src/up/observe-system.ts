import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cgroupHierarchies, cgroupTree, listMounts } from './cgroups.ts';
import type { Journal } from './journal.ts';
import type { InstanceNames } from './names.ts';
import { listLinks } from './network.ts';
import type { ObservedSystem } from './plan-removal.ts';
import type { RunCommand } from './ports.ts';
import { errnoOf, listProcesses, readBootId, type ProcessInfo } from './process-table.ts';
import { programs } from './programs.ts';

/** Folders that container tools share and that no setting can move. */
export const sharedFolders = ['/run/containerd/s', '/run/containerd', '/var/lib/cni/results', '/var/lib/cni'] as const;

const cniResults = '/var/lib/cni/results';
const containerLogLinks = '/var/log/containers';

/** Reads the state of the machine. If the tool to read something is missing, this program cannot have made it. */
export async function observeSystem(
  names: InstanceNames,
  journal: Journal | undefined,
  run: RunCommand,
): Promise<ObservedSystem> {
  const processes = listProcesses();
  const mounts = listMounts();
  const containers = containerIds(names);
  return {
    bootId: readBootId(),
    processes,
    self: ancestry(processes, process.pid),
    mounts: mounts.map((mount) => mount.path),
    links: existsSync(programs.ip) ? await listLinks(run) : [],
    iptables: await savedIptables(run),
    cgroups: cgroupHierarchies(mounts).flatMap((hierarchy) => [
      ...cgroupTree(join(hierarchy, names.cgroupRoot)),
      ...cgroupTree(join(hierarchy, names.cgroupSlice)),
      // Where the runtime puts containers without a configured parent.
      ...containers.flatMap((id) => cgroupTree(join(hierarchy, 'k8s.io', id))),
    ]),
    strayFiles: strayFiles(names, containers),
    folders: [names.runDir, ...rootContents(names, journal)].filter((path) => existsSync(path)),
    emptyShared: sharedFolders.filter((path) => existsSync(path) && readdirSync(path).length === 0),
  };
}

export async function savedIptables(run: RunCommand): Promise<string> {
  return existsSync(programs.iptablesSave) ? run(programs.iptablesSave, []) : '';
}

/** Containers that have a folder of the runtime or of runc. */
function containerIds(names: InstanceNames): readonly string[] {
  const folders = [bundles(names), join(names.runcRoot, 'k8s.io')];
  return [...new Set(folders.flatMap((folder) => listFolder(folder)))];
}

/** Files that shims and network plugins leave in shared folders when they are killed. */
function strayFiles(names: InstanceNames, containers: readonly string[]): readonly string[] {
  const sockets = containers.flatMap((id) => {
    const address = join(bundles(names), id, 'address');
    const socket = existsSync(address)
      ? readFileSync(address, 'utf8')
          .trim()
          .replace(/^unix:\/\//, '')
      : '';
    return socket.startsWith('/run/containerd/s/') && existsSync(socket) ? [socket] : [];
  });
  const results = listFolder(cniResults);
  const ours = results.filter((name) => name.startsWith(`${names.network}-`));
  const sandboxes = [...containers, ...ours.map((name) => name.slice(names.network.length + 1).split('-')[0] ?? '')];
  const loopbacks = results.filter((name) => sandboxes.some((id) => name.startsWith(`cni-loopback-${id}-`)));
  const links = listFolder(containerLogLinks).filter((name) =>
    pointsBelow(join(containerLogLinks, name), names.podLogs),
  );
  return [
    ...[names.upLog].filter((path) => existsSync(path)),
    ...new Set(sockets),
    ...[...ours, ...loopbacks].map((name) => join(cniResults, name)),
    ...links.map((name) => join(containerLogLinks, name)),
  ];
}

/** Everything in the root but the journal and the user's files; those are removed last. */
function rootContents(names: InstanceNames, journal: Journal | undefined): readonly string[] {
  if (journal === undefined) return [];
  const kept = [names.journal, names.manifests, journal.manifests?.path];
  return listFolder(names.root)
    .map((name) => join(names.root, name))
    .filter((path) => !kept.some((keep) => keep === path || keep?.startsWith(`${path}/`) === true));
}

function ancestry(processes: readonly ProcessInfo[], pid: number): readonly number[] {
  const parents = new Map(processes.map((process) => [process.pid, process.parent]));
  const chain: number[] = [];
  for (let at: number | undefined = pid; at !== undefined && at > 0; at = parents.get(at)) chain.push(at);
  return chain;
}

function pointsBelow(link: string, folder: string): boolean {
  try {
    return readlinkSync(link).startsWith(`${folder}/`);
  } catch (error) {
    if (['EINVAL', 'ENOENT'].includes(errnoOf(error) ?? '')) return false;
    throw error;
  }
}

/** Names in a folder; empty when it is missing. */
export function listFolder(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return [];
    throw error;
  }
}

const bundles = (names: InstanceNames): string =>
  join(names.containerdState, 'io.containerd.runtime.v2.task', 'k8s.io');
