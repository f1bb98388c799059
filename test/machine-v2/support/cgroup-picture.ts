import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Pod } from '../../../src/gen/kubernetes/types.ts';

/** What a cgroup allows, and for a unit what systemd has of it: names and values. */
type Values = Readonly<Record<string, string>>;
/** Cgroups by their path, with the names of pods and containers in the place of their ids. */
export type CgroupPicture = ReadonlyMap<string, Values>;

const mountPoint = '/sys/fs/cgroup';
const files = [
  'cpu.max',
  'cpu.weight',
  'cpu.idle',
  'memory.min',
  'memory.low',
  'memory.high',
  'memory.max',
  'memory.swap.max',
  'memory.oom.group',
  'pids.max',
  'cgroup.controllers',
  'cgroup.subtree_control',
];
const properties = [
  'ActiveState',
  'AllowedCPUs',
  'CPUAccounting',
  'CPUQuotaPerSecUSec',
  'CPUWeight',
  'DefaultDependencies',
  'Delegate',
  'Description',
  'IOAccounting',
  'MemoryAccounting',
  'MemoryMax',
  'MemoryMin',
  'MemorySwapMax',
  'Slice',
  'TasksAccounting',
  'TasksMax',
  'Transient',
  'Wants',
];

/** All cgroups of pods on this machine, as the kernel and systemd have them now. */
export function cgroupPicture(pods: readonly Pod[]): CgroupPicture {
  const name = namesIn(pods);
  const picture = new Map<string, Values>();
  const visit = (path: string): void => {
    const folder = join(mountPoint, path);
    picture.set(name(path), { ...valuesOf(folder), ...unitOf(basename(path), name) });
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) visit(join(path, entry.name));
    }
  };
  for (const top of readdirSync(mountPoint)) if (/^kubepods(\.slice)?$/.test(top)) visit(`/${top}`);
  return new Map([...picture].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Every difference in a line: where, what, and both values. */
export function pictureDifferences(one: CgroupPicture, other: CgroupPicture): readonly string[] {
  const paths = new Set([...one.keys(), ...other.keys()]);
  return [...paths].flatMap((path) => {
    const [first, second] = [one.get(path), other.get(path)];
    if (first === undefined || second === undefined) return [`${path}: ${first ? 'only before' : 'only after'}`];
    const keys = new Set([...Object.keys(first), ...Object.keys(second)]);
    return [...keys]
      .filter((key) => first[key] !== second[key])
      .map((key) => `${path} ${key}: ${first[key]} -> ${second[key]}`);
  });
}

function valuesOf(folder: string): Values {
  const there = files.filter((file) => existsSync(join(folder, file)));
  return Object.fromEntries(there.map((file) => [file, readFileSync(join(folder, file), 'utf8').trim()]));
}

function unitOf(unit: string, name: (text: string) => string): Values {
  if (!/\.(slice|scope)$/.test(unit)) return {};
  const text = execFileSync('systemctl', ['show', unit, `--property=${properties.join(',')}`], { encoding: 'utf8' });
  const lines = text.trim().split('\n');
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), name(line.slice(line.indexOf('=') + 1))]),
  );
}

/** Pods have other uids and containers other ids in each picture. */
function namesIn(pods: readonly Pod[]): (text: string) => string {
  const pairs = pods.flatMap(({ metadata, status }) => {
    const uid = metadata?.uid ?? '';
    const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    const pod = metadata?.name ?? '';
    return [
      [uid, pod],
      [uid.replaceAll('-', '_'), pod],
      ...containers.map((container) => [container.containerID?.replace(/^.*:\/\//, '') ?? '', container.name]),
    ] as const;
  });
  return (text) =>
    pairs
      .filter(([id]) => id !== '')
      .reduce((named, [id = '', word = '']) => named.replaceAll(id, word), text)
      .replaceAll(/[0-9a-f]{64}/g, 'sandbox');
}
