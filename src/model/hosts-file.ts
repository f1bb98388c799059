import type { HostAlias } from '../gen/kubernetes/types.ts';
import type { PodHostname } from './hostname.ts';

const ownLines = [
  '# Kubernetes-managed hosts file.',
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
] as const;
const hostNetworkHeader = '# Kubernetes-managed hosts file (host network).';

/** The /etc/hosts of a pod with its own network. */
export function podHostsFile(
  podIps: readonly string[],
  names: PodHostname,
  aliases: readonly HostAlias[] = [],
): string {
  const own = names.domain === '' ? names.hostname : `${names.hostname}.${names.domain}\t${names.hostname}`;
  return [...ownLines, ...podIps.map((ip) => `${ip}\t${own}`), ''].join('\n') + aliasBlock(aliases);
}

/** The /etc/hosts of a pod on the node's network: the node's own, with the pod's additions. */
export function hostNetworkHostsFile(nodeHostsFile: string, aliases: readonly HostAlias[] = []): string {
  return `${hostNetworkHeader}\n${nodeHostsFile}${aliasBlock(aliases)}`;
}

function aliasBlock(aliases: readonly HostAlias[]): string {
  if (aliases.length === 0) return '';
  const lines = aliases.map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join('\t')}`);
  return ['', '# Entries added by HostAliases.', ...lines, ''].join('\n');
}
