/** Rules of one table as iptables-save prints them. */
interface Table {
  readonly name: string;
  readonly chains: readonly string[];
  /** `-A CHAIN …` lines. */
  readonly rules: readonly string[];
}

const hostPortChains = ['CNI-HOSTPORT-DNAT', 'CNI-HOSTPORT-MASQ', 'CNI-HOSTPORT-SETMARK'];

/**
 * Input for `iptables-restore --noflush` that removes all rules of the network; empty when there are none. CNI
 * plugins name their chains by a hash but write the network's name into the comment of each rule that leads to one.
 * The chains of all host ports of the machine are removed when they are unused, unless they existed before.
 */
export function iptablesRemoval(saved: string, network: string, foreignHostPorts: boolean): string {
  const sections = parseTables(saved).map((table) => removalOf(table, network, foreignHostPorts));
  return sections.filter((section) => section !== '').join('');
}

/** Whether there are host ports of other networks, or chains of unknown origin. */
export function hasForeignHostPorts(saved: string): boolean {
  return parseTables(saved).some((table) => {
    if (!table.chains.includes('CNI-HOSTPORT-DNAT')) return false;
    const entries = table.rules.filter((rule) => chainOf(rule) === 'CNI-HOSTPORT-DNAT');
    return entries.length === 0 || entries.some((rule) => !/name: \\?"tubelet-[0-9a-f]{8}\\?"/.test(rule));
  });
}

function removalOf(table: Table, network: string, foreignHostPorts: boolean): string {
  const ours = table.rules.filter((rule) => namesNetwork(rule, network));
  const chains = new Set(ours.map(targetOf).filter((chain) => /^CNI-(?:DN-)?[0-9a-f]{10,}$/.test(chain)));
  const removed = new Set(table.rules.filter((rule) => ours.includes(rule) || chains.has(chainOf(rule))));
  const entriesLeft = table.rules.some((rule) => chainOf(rule) === 'CNI-HOSTPORT-DNAT' && !removed.has(rule));
  if (!foreignHostPorts && !entriesLeft) {
    for (const chain of hostPortChains.filter((name) => table.chains.includes(name))) chains.add(chain);
  }
  const deleted = table.rules.filter(
    (rule) => !chains.has(chainOf(rule)) && (ours.includes(rule) || chains.has(targetOf(rule))),
  );
  if (deleted.length === 0 && chains.size === 0) return '';
  return [
    `*${table.name}`,
    ...deleted.map((rule) => rule.replace(/^-A/, '-D')),
    // A chain can only be removed when no rule leads to it, so all are emptied first.
    ...[...chains].map((chain) => `-F ${chain}`),
    ...[...chains].map((chain) => `-X ${chain}`),
    'COMMIT\n',
  ].join('\n');
}

function parseTables(saved: string): readonly Table[] {
  return saved
    .split(/^(?=\*)/m)
    .filter((section) => section.startsWith('*'))
    .map((section) => {
      const lines = section.split('\n');
      return {
        name: (lines[0] ?? '').slice(1),
        chains: lines.filter((line) => line.startsWith(':')).map((line) => line.slice(1).split(' ')[0] ?? ''),
        rules: lines.filter((line) => line.startsWith('-A ')),
      };
    });
}

/** iptables-save escapes the quotes inside of a comment. */
function namesNetwork(rule: string, network: string): boolean {
  return rule.includes(`name: \\"${network}\\"`) || rule.includes(`name: "${network}"`);
}

const chainOf = (rule: string): string => rule.split(' ')[1] ?? '';
const targetOf = (rule: string): string => / -[jg] (\S+)/.exec(rule)?.[1] ?? '';
