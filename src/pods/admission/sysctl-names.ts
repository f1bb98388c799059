import { dottedSysctl } from '../../model/sysctl-names.ts';

/** Sysctls that are namespaced and affect no other pod, each with the kernel from which on that is so. */
const safe: readonly (readonly [name: string, sinceKernel?: readonly [number, number]])[] = [
  ['kernel.shm_rmid_forced'],
  ['net.ipv4.ip_local_port_range'],
  ['net.ipv4.tcp_syncookies'],
  ['net.ipv4.ping_group_range'],
  ['net.ipv4.ip_unprivileged_port_start'],
  ['net.ipv4.ip_local_reserved_ports', [3, 16]],
  ['net.ipv4.tcp_keepalive_time', [4, 5]],
  ['net.ipv4.tcp_fin_timeout', [4, 6]],
  ['net.ipv4.tcp_keepalive_intvl', [4, 5]],
  ['net.ipv4.tcp_keepalive_probes', [4, 5]],
  ['net.ipv4.tcp_rmem', [4, 15]],
  ['net.ipv4.tcp_wmem', [4, 15]],
];

/** Each with the namespace that keeps it inside of a pod. */
export interface AllowedSysctls {
  readonly names: ReadonlyMap<string, SysctlNamespace>;
  readonly prefixes: readonly (readonly [prefix: string, namespace: SysctlNamespace])[];
}

/** The safe sysctls of this kernel and those that the configuration adds. */
export function allowedSysctls(kernelVersion: string, unsafe: readonly string[]): AllowedSysctls {
  const added = unsafe.map(dottedSysctl);
  const names = [
    ...safe.filter(([, since]) => since === undefined || isAtLeast(kernelVersion, since)).map(([name]) => name),
    ...added.filter((pattern) => !pattern.endsWith('*')),
  ];
  const prefixes = added.filter((pattern) => pattern.endsWith('*')).map((pattern) => pattern.slice(0, -1));
  return { names: new Map(names.flatMap(namespaced)), prefixes: prefixes.flatMap(namespaced) };
}

/** A pattern that is not inside of one namespace would allow settings of the node itself, so it allows nothing. */
function namespaced(name: string): (readonly [string, SysctlNamespace])[] {
  const namespace = namespaceOf(name);
  return namespace === undefined ? [] : [[name, namespace]];
}

/** The namespace of a setting that is allowed. */
export function allowedIn(name: string, { names, prefixes }: AllowedSysctls): SysctlNamespace | undefined {
  return names.get(name) ?? prefixes.find(([prefix]) => name.startsWith(prefix))?.[1];
}

type SysctlNamespace = 'ipc' | 'net';

const namespaces: readonly (readonly [prefix: string, namespace: SysctlNamespace])[] = [
  ['kernel.shm', 'ipc'],
  ['kernel.msg', 'ipc'],
  ['fs.mqueue.', 'ipc'],
  ['net.', 'net'],
];

/** The kernel namespace that keeps a setting apart; without one it would change the whole node. */
function namespaceOf(name: string): SysctlNamespace | undefined {
  if (name === 'kernel.sem') return 'ipc';
  return namespaces.find(([prefix]) => name.startsWith(prefix))?.[1];
}

/** A version that cannot be parsed counts as too old. */
function isAtLeast(kernelVersion: string, [major, minor]: readonly [number, number]): boolean {
  const match = /^(\d+)\.(\d+)/.exec(kernelVersion);
  if (match === null) return false;
  const [found, foundMinor] = [Number(match[1]), Number(match[2])];
  return found > major || (found === major && foundMinor >= minor);
}
