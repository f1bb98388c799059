export type Family = 'IPv4' | 'IPv6';
type Table = 'mangle' | 'nat' | 'filter';

/** One chain or rule that a family needs; `failure` is logged where it cannot be made. */
export type ChainStep =
  | { readonly kind: 'chain'; readonly table: Table; readonly chain: string; readonly failure: string }
  | {
      readonly kind: 'rule';
      readonly position: 'first' | 'last';
      readonly table: Table;
      readonly chain: string;
      readonly rule: readonly string[];
      readonly failure: string;
    };

const firewall = 'KUBE-FIREWALL';
/** A chain that holds nothing: when it is gone, another program has flushed the tables. */
export const canary = 'KUBE-KUBELET-CANARY';
/** The first one is asked; the others are waited for, so that a flush under way is over. */
export const canaryTables: readonly [Table, ...Table[]] = ['mangle', 'nat', 'filter'];
/** What shows that the kernel has the tables. */
export const presenceChain = { chain: 'POSTROUTING', table: 'nat' } as const;

const program: Readonly<Record<Family, string>> = { IPv4: 'iptables', IPv6: 'ip6tables' };
export const programOf = (family: Family): string => program[family];

/** Other programs see by this chain which of the two kernel interfaces of iptables is in use. */
const hint: ChainStep = {
  kind: 'chain',
  table: 'mangle',
  chain: 'KUBE-IPTABLES-HINT',
  failure: 'Failed to ensure that iptables hint chain exists',
};

const jumpFrom = (chain: string): ChainStep => ({
  kind: 'rule',
  position: 'first',
  table: 'filter',
  chain,
  rule: ['-j', firewall],
  failure: `Failed to ensure that ${chain} chain jumps to ${firewall}`,
});

/**
 * Services on node ports need route_localnet, with which a neighbour could reach what listens on this machine's loopback
 * alone. IPv6 has no such setting.
 */
const localnet: readonly ChainStep[] = [
  {
    kind: 'chain',
    table: 'filter',
    chain: firewall,
    failure: `Failed to ensure that filter table ${firewall} chain exists`,
  },
  jumpFrom('OUTPUT'),
  jumpFrom('INPUT'),
  {
    kind: 'rule',
    position: 'last',
    table: 'filter',
    chain: firewall,
    rule: [
      '-m',
      'comment',
      '--comment',
      'block incoming localnet connections',
      '--dst',
      '127.0.0.0/8',
      '!',
      '--src',
      '127.0.0.0/8',
      '-m',
      'conntrack',
      '!',
      '--ctstate',
      'RELATED,ESTABLISHED,DNAT',
      '-j',
      'DROP',
    ],
    failure: `Failed to ensure rule to drop invalid localhost packets in filter table ${firewall} chain`,
  },
];

/** Pure: the chains and rules of a family, in order; each needs those before it. */
export function stepsOf(family: Family): readonly ChainStep[] {
  return family === 'IPv4' ? [hint, ...localnet] : [hint];
}

/** Pure: how a call waits for the lock of the tables, by what `--version` printed. An unknown version knows no waiting. */
export function waitFlags(versionText: string): readonly string[] {
  const numbers = /v(\d+)\.(\d+)\.(\d+)/.exec(versionText)?.slice(1).map(Number) ?? [];
  const atLeast = (patch: number): boolean => {
    const [major = 0, minor = 0, own = 0] = numbers;
    return major > 1 || (major === 1 && (minor > 4 || (minor === 4 && own >= patch)));
  };
  if (atLeast(22)) return ['-w', '5'];
  return atLeast(20) ? ['-w'] : [];
}

/** Exit code of a call that did not get the lock, or memory: it says nothing about the tables. */
const noResources = 4;

/** Pure: what the answer to a question for the canary says. */
export function canaryVerdict(exitCode: number): 'there' | 'unknown' | 'gone' {
  if (exitCode === 0) return 'there';
  return exitCode === noResources ? 'unknown' : 'gone';
}
