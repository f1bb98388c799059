import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cgroupHierarchies, listMounts } from '../../src/up/cgroups.ts';
import type { InstanceNames } from '../../src/up/index.ts';
import { listLinks, type Link } from '../../src/up/network.ts';
import { listFolder } from '../../src/up/observe-system.ts';
import { listProcesses, type ProcessInfo } from '../../src/up/process-table.ts';
import { runCommand } from '../../src/up/run-command.ts';

/** Things on the machine, by kind. */
export type Listing = Readonly<Record<string, readonly string[]>>;

/** Everything on the machine that bears the instance's name. */
export async function footprint(names: InstanceNames): Promise<Listing> {
  const bears = (text: string): boolean => text.includes(names.id) || text.includes(`${names.root}/`);
  const mounts = lines(readFileSync('/proc/self/mountinfo', 'utf8')).filter(bears);
  const links = await listLinks(runCommand);
  return {
    processes: processesOf(names).map(({ argv, cgroups }) => `${argv.join(' ')} ${cgroups.join(' ')}`),
    mounts,
    networkNamespaces: mounts.filter((line) => line.includes('nsfs')),
    interfaces: links.filter((link) => isOf(names.bridge, link)).map((link) => link.name),
    rules: savedRules().filter(bears),
    cgroups: cgroupHierarchies(listMounts()).filter((path) => existsSync(path + names.cgroupRoot)),
    files: [
      ...[names.root, names.runDir].filter((path) => existsSync(path)),
      ...listFolder('/var/lib/cni/results').filter(bears),
    ],
  };
}

export const nothing: Listing = {
  processes: [],
  mounts: [],
  networkNamespaces: [],
  interfaces: [],
  rules: [],
  cgroups: [],
  files: [],
};

/** Living processes that name the instance or its folder, or live in its cgroup; the one that asks is not among them. */
export function processesOf(names: InstanceNames): readonly ProcessInfo[] {
  const bears = (text: string): boolean =>
    text === names.root || text.includes(names.id) || text.includes(`${names.root}/`);
  return listProcesses().filter(
    ({ pid, argv, cgroups }) => pid !== process.pid && (argv.some(bears) || cgroups.some(bears)),
  );
}

/**
 * What the whole machine has of the kinds that an instance makes, whether it bears a name or not, so that a listing
 * from before and one from after can be compared. Things of other instances come and go meanwhile and are left out.
 */
export async function machineListing(names: InstanceNames): Promise<Listing> {
  const links = await listLinks(runCommand);
  const others = links.filter((link) => isForeign(names, link.name)).map((link) => link.name);
  return {
    processes: processesOf(names).map(({ argv }) => argv.join(' ')),
    mounts: listMounts()
      .map(({ path, type }) => `${path} ${type}`)
      .filter((text) => !isForeign(names, text) && (text.startsWith(names.root) || !text.startsWith(`${tmpdir()}/`))),
    interfaces: links
      .filter((link) => !others.some((bridge) => isOf(bridge, link)))
      .map((link) => link.name)
      .toSorted(),
    networkNamespaces: listFolder('/run/netns'),
    rules: withoutForeign(names, savedRules()),
    cgroups: cgroupHierarchies(listMounts())
      .flatMap((path) => [path, join(path, 'k8s.io')])
      .flatMap((path) => foldersIn(path))
      .filter((path) => !isForeign(names, path)),
    files: ['/run', '/var/log', '/var/lib', '/var/lib/cni']
      .flatMap((folder) => listFolder(folder).map((name) => join(folder, name)))
      .filter((path) => /tubelet|containerd|cni/.test(path) && !isForeign(names, path)),
  };
}

/** Rules and chains that no other instance's network has made. Chains are known by the rules that lead into them. */
function withoutForeign(names: InstanceNames, rules: readonly string[]): readonly string[] {
  const foreign = rules.filter((rule) => isForeign(names, rule));
  const chains = new Set(foreign.flatMap((rule) => rule.match(/CNI-[0-9a-f]{24}|CNI-[DS]N-[0-9a-f]+/g) ?? []));
  return rules.filter((rule) => !foreign.includes(rule) && ![...chains].some((chain) => rule.includes(chain)));
}

/** Rules without counters and comments, which change all the time. */
function savedRules(): readonly string[] {
  return lines(execFileSync('/usr/sbin/iptables-save', { encoding: 'utf8' }))
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replace(/ \[\d+:\d+\]$/, ''));
}

function isForeign(names: InstanceNames, text: string): boolean {
  return [...text.matchAll(/\b(?:tubelet|tb)-([0-9a-f]{8})\b/g)].some((match) => match[1] !== names.id);
}

function foldersIn(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(path, entry.name));
}

const isOf = (bridge: string, link: Link): boolean => link.name === bridge || link.master === bridge;
const lines = (text: string): readonly string[] => text.split('\n');
