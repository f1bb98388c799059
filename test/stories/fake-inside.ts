import { SecurityProfile_ProfileType, type LinuxContainerSecurityContext } from '../../src/gen/cri/api.ts';
import type { FakeContainer, FakeCri, FakeSandbox } from '../../src/testing/fake-cri/index.ts';
import type { MemoryFiles } from '../../src/testing/memory-files.ts';
import type { Inside, Limits, Machine, Rights } from './stage.ts';

/** What a process would find in a container that containerd makes by the requests that the fake runtime got. */
export function fakeInside(cri: FakeCri, files: MemoryFiles, machine: Machine, find: () => FakeContainer): Inside {
  const sandboxOf = (): FakeSandbox => cri.state.sandbox(find().sandboxId);
  const hostname = (): string => sandboxOf().config.hostname || machine.hostname;
  return {
    async env() {
      const given = find().config.envs.map(({ key, value }) => [key, value.toString()] as const);
      return { HOSTNAME: hostname(), ...Object.fromEntries(given) };
    },
    async process() {
      const { command, args, workingDir } = find().config;
      return { words: [...command, ...args], folder: workingDir };
    },
    hostname: async () => hostname(),
    async hosts() {
      const mount = find().config.mounts.find(({ containerPath }) => containerPath === '/etc/hosts');
      return mount === undefined ? machine.hosts : files.readText(mount.hostPath);
    },
    async resolvConf() {
      const dns = sandboxOf().config.dnsConfig;
      if (dns === undefined) return machine.resolver;
      return { nameserver: dns.servers, search: dns.searches, options: dns.options };
    },
    rights: async () => rightsOf(find().config.linux?.securityContext, machine),
    cgroup: async () => limitsOf(find(), sandboxOf()),
  };
}

/** The runtime's default capabilities, fourteen of them, and the bits of those that stories name. */
const defaultCapabilities = 0xa80425fbn;
const bits: Readonly<Record<string, bigint>> = { NET_BIND_SERVICE: 10n, NET_RAW: 13n, SYS_TIME: 25n };

function rightsOf(context: LinuxContainerSecurityContext | undefined, machine: Machine): Rights {
  const uid = context?.runAsUser?.value ?? 0n;
  const gid = context?.runAsGroup?.value ?? 0n;
  const groups = new Set([gid, ...(context?.supplementalGroups ?? [])]);
  const privileged = context?.privileged === true;
  const bounding = privileged ? BigInt(`0x${machine.allCapabilities}`) : capabilitiesOf(context);
  const filtered = context?.seccomp?.profileType === SecurityProfile_ProfileType.RuntimeDefault;
  return {
    Uid: String(uid),
    Gid: String(gid),
    Groups: [...groups]
      .map(Number)
      .toSorted((one, other) => one - other)
      .join(' '),
    CapBnd: hex(bounding),
    // Whoever is not root has them only within reach.
    CapEff: hex(uid === 0n ? bounding : 0n),
    NoNewPrivs: context?.noNewPrivs === true ? '1' : '0',
    Seccomp: filtered && !privileged ? '2' : machine.unconfined,
    root: uid === 0n && context?.readonlyRootfs !== true ? 'writable' : 'read-only',
  };
}

function capabilitiesOf(context: LinuxContainerSecurityContext | undefined): bigint {
  const { addCapabilities = [], dropCapabilities = [] } = context?.capabilities ?? {};
  const mask = (names: readonly string[]): bigint => names.reduce((sum, name) => sum | (1n << bitOf(name)), 0n);
  const base = dropCapabilities.includes('ALL') ? 0n : defaultCapabilities & ~mask(dropCapabilities);
  return base | mask(addCapabilities);
}

function bitOf(name: string): bigint {
  const bit = bits[name];
  if (bit === undefined) throw new Error(`the fake does not know capability ${name}`);
  return bit;
}

const hex = (mask: bigint): string => mask.toString(16).padStart(16, '0');

function limitsOf({ resources }: FakeContainer, { config }: FakeSandbox): Limits {
  const { cpuShares = 0n, cpuQuota = 0n, memoryLimitInBytes = 0n, oomScoreAdj = 0n } = resources ?? {};
  return {
    parent: config.linux?.cgroupParent.replace(/^\//, '') ?? '',
    cpuShares: Number(cpuShares),
    cpuQuotaUs: cpuQuota > 0n ? Number(cpuQuota) : 'max',
    memoryBytes: memoryLimitInBytes > 0n ? Number(memoryLimitInBytes) : 'max',
    oomScoreAdj: Number(oomScoreAdj),
  };
}
