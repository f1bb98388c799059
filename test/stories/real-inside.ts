import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { cgroupHierarchies } from '../../src/host/pod-cgroups.ts';
import { parseCgroupName } from '../../src/model/cgroup-names.ts';
import type { RealNode } from '../support/real-node.ts';
import { processesOf } from '../support/real-footprint.ts';
import type { Inside, Limits, Machine, Resolver, Rights } from './stage.ts';

const mebibyte = 2 ** 20;
/** Version 1 has a number for no limit; any that no machine has means it. */
const noLimit = 2 ** 40 * mebibyte;

/** What a process finds in a container of a pod, by commands in it. */
export function realInside(node: RealNode, pod: string, container: string): Inside {
  const idOf = async (): Promise<string> => {
    const id = (await node.runtime.running(pod)).get(container);
    if (id === undefined) throw new Error(`container ${container} of pod ${pod} does not run`);
    return id;
  };
  const run = async (...command: readonly string[]): Promise<string> => node.runtime.exec(await idOf(), command);
  return {
    async env() {
      const entries = (await run('cat', '/proc/1/environ')).split('\0').filter((entry) => entry !== '');
      return Object.fromEntries(entries.map((entry) => entry.split(/=(.*)/s).slice(0, 2) as [string, string]));
    },
    async process() {
      const words = (await run('cat', '/proc/1/cmdline')).split('\0').slice(0, -1);
      return { words, folder: (await run('readlink', '/proc/1/cwd')).trim() };
    },
    hostname: async () => (await run('hostname')).trim(),
    hosts: () => run('cat', '/etc/hosts'),
    resolvConf: async () => resolverIn(await run('cat', '/etc/resolv.conf')),
    async rights() {
      const script = 'if touch /try 2>/dev/null; then echo writable; else echo read-only; fi';
      const root = (await run('sh', '-c', script)).trim() === 'writable' ? 'writable' : 'read-only';
      return { ...rightsIn(await run('cat', '/proc/1/status')), root };
    },
    cgroup: async () => limitsOf(node, await idOf()),
  };
}

export function realMachine(node: RealNode): Machine {
  const own = rightsIn(readFileSync('/proc/self/status', 'utf8'));
  return {
    image: node.image,
    hostname: hostname(),
    hosts: readFileSync('/etc/hosts', 'utf8'),
    resolver: resolverIn(readFileSync('/etc/resolv.conf', 'utf8')),
    memoryBytes: Number(/^MemTotal:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) * 1_024,
    // Without CAP_SYS_RESOURCE the runtime cannot go below its own score, and says in its settings that it will not.
    lowestOomScore: readNumber(`/proc/${node.runtimePid}/oom_score_adj`),
    // As much as the runtime itself has.
    allCapabilities: own.CapEff,
    unconfined: own.Seccomp,
  };
}

function resolverIn(text: string): Resolver {
  const words: Record<keyof Resolver, string[]> = { nameserver: [], search: [], options: [] };
  for (const line of text.split('\n')) {
    const [keyword = '', ...values] = line.split(/\s+/).filter((word) => word !== '');
    if (keyword in words) words[keyword as keyof Resolver].push(...values);
  }
  return words;
}

/** Of four user or group ids the first, as all are the same here. */
function rightsIn(status: string): Omit<Rights, 'root'> {
  const field = (name: string): string => new RegExp(`^${name}:\\s*(.*?)\\s*$`, 'm').exec(status)?.[1] ?? '';
  return {
    Uid: field('Uid').split(/\s+/)[0] ?? '',
    Gid: field('Gid').split(/\s+/)[0] ?? '',
    Groups: field('Groups'),
    CapEff: field('CapEff'),
    CapBnd: field('CapBnd'),
    NoNewPrivs: field('NoNewPrivs'),
    Seccomp: field('Seccomp'),
  };
}

function limitsOf(node: RealNode, id: string): Limits {
  const isOf = (path: string): boolean => [`/${id}`, `/crio-${id}`, `-${id}.scope`].some((end) => path.endsWith(end));
  const main = processesOf(node.names).find(({ cgroups }) => cgroups.some(isOf));
  const path = main?.cgroups.find(isOf);
  if (main === undefined || path === undefined) throw new Error(`no process is in a cgroup of ${id}`);
  const trees = cgroupHierarchies();
  const isFirst = trees.some(({ controllers }) => controllers.includes('memory'));
  const read = (file: string): string => {
    const [controller = ''] = file.split('.');
    const tree = trees.find((one) => (isFirst ? one.controllers.includes(controller) : one.version === 2));
    return readFileSync(`${tree?.root}${path}/${file}`, 'utf8').trim();
  };
  const common = { parent: belowRoot(dirname(path)), oomScoreAdj: readNumber(`/proc/${main.pid}/oom_score_adj`) };
  if (!isFirst) {
    const quota = read('cpu.max').split(' ')[0] ?? '';
    return {
      ...common,
      cpuWeight: Number(read('cpu.weight')),
      cpuQuotaUs: limit(quota),
      memoryBytes: limit(read('memory.max')),
    };
  }
  return {
    ...common,
    cpuShares: Number(read('cpu.shares')),
    cpuQuotaUs: limit(read('cpu.cfs_quota_us')),
    memoryBytes: limit(read('memory.limit_in_bytes')),
  };
}

/** The names of a cgroup and those above it without the first, which is the node's root, whatever the driver. */
function belowRoot(path: string): string {
  const driver = path.endsWith('.slice') ? 'systemd' : 'cgroupfs';
  return parseCgroupName(path, driver).slice(1).join('/');
}

function limit(text: string): number | 'max' {
  const number = Number(text);
  return text === 'max' || number < 0 || number > noLimit ? 'max' : number;
}

const readNumber = (path: string): number => Number(readFileSync(path, 'utf8'));
