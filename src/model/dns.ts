import type { PodDNSConfigOption } from '../gen/kubernetes/types.ts';
import { describePod } from './containers.ts';
import type { DesiredPod } from './desired-pod.ts';
import { podEvents } from './event-reasons.ts';

/** What resolvers can take; the rest is cut and reported. */
export const dnsLimits = { nameservers: 3, searches: 32, searchCharacters: 2048, domainCharacters: 253 } as const;

/** A resolver configuration, of the host or of a pod. */
export interface HostDns {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

interface DnsEvent {
  readonly reason: string;
  readonly message: string;
}

export interface PodDns {
  readonly config: HostDns;
  /** Warnings for the pod; nothing here keeps it from running. */
  readonly events: readonly DnsEvent[];
}

export interface DnsInput {
  readonly pod: Pick<DesiredPod, 'name' | 'namespace' | 'uid' | 'spec'>;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  readonly resolvConf: string;
  readonly hostDns: HostDns;
  readonly hostIps?: readonly string[];
}

export function parseResolvConf(text: string): HostDns {
  const servers: string[] = [];
  let searches: string[] = [];
  let options: string[] = [];
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword === 'nameserver' && values[0] !== undefined) servers.push(values[0]);
    // The last search line counts. A domain with and without its final dot is one domain; the root is none.
    if (keyword === 'search')
      searches = values.filter((domain) => domain !== '.').map((domain) => domain.replace(/\.$/, ''));
    if (keyword === 'options') options = mergeOptions(options, values);
  }
  return { servers, searches, options };
}

/** The resolver configuration of a pod by its DNS policy, cut to what resolvers can take. */
export function podDns(input: DnsInput): PodDns {
  const { config, events } = byPolicy(input);
  const extra = input.pod.spec.dnsConfig;
  if (extra === undefined) return fitLimits(config, events);
  return fitLimits(
    {
      servers: unique([...config.servers, ...(extra.nameservers ?? [])]),
      searches: unique([...config.searches, ...(extra.searches ?? [])]),
      options: mergeOptions(config.options, (extra.options ?? []).map(printOption)),
    },
    events,
  );
}

function byPolicy(input: DnsInput): PodDns {
  const { pod, clusterDns, clusterDomain, hostDns } = input;
  const { dnsPolicy: policy = 'ClusterFirst', hostNetwork = false } = pod.spec;
  if (policy === 'None') return { config: { servers: [], searches: [], options: [] }, events: [] };
  if (policy === 'Default' || (policy === 'ClusterFirst' && hostNetwork)) {
    return { config: hostConfig(input), events: [] };
  }
  if (clusterDns.length === 0) {
    const message =
      `pod: "${describePod(pod)}". kubelet does not have ClusterDNS IP configured and cannot create Pod using ` +
      '"ClusterFirst" policy. Falling back to "Default" policy.';
    return { config: hostConfig(input), events: [{ reason: podEvents.missingClusterDns, message }] };
  }
  const own = [`${pod.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  const hostSearches = input.resolvConf === '' ? [] : hostDns.searches;
  const searches = clusterDomain === '' ? hostSearches : unique([...own, ...hostSearches]);
  return { config: { servers: clusterDns, searches, options: ['ndots:5'] }, events: [] };
}

/** Without a host configuration, lookups are sent to the pod itself, where no server answers. */
function hostConfig({ resolvConf, hostDns, hostIps = [] }: DnsInput): HostDns {
  if (resolvConf !== '') return hostDns;
  const loopbacks = hostIps.map((ip) => (ip.includes(':') ? '::1' : '127.0.0.1'));
  return { servers: loopbacks.length === 0 ? ['127.0.0.1'] : unique(loopbacks), searches: ['.'], options: [] };
}

function fitLimits(config: HostDns, before: readonly DnsEvent[]): PodDns {
  const events = [...before];
  const servers = config.servers.slice(0, dnsLimits.nameservers);
  if (servers.length < config.servers.length) {
    events.push({
      reason: podEvents.dnsConfigForming,
      message:
        'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ' +
        servers.join(' '),
    });
  }
  const searches = config.searches
    .slice(0, dnsLimits.searches)
    .filter((domain) => domain.length <= dnsLimits.domainCharacters);
  while (searches.join(' ').length > dnsLimits.searchCharacters) searches.pop();
  if (searches.length < config.searches.length) {
    events.push({
      reason: podEvents.dnsConfigForming,
      message:
        'Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ' +
        searches.join(' '),
    });
  }
  return { config: { servers, searches, options: config.options }, events };
}

function printOption({ name = '', value }: PodDNSConfigOption): string {
  return value === undefined || value === '' ? name : `${name}:${value}`;
}

/** An option given again replaces the earlier one of its name. */
function mergeOptions(first: readonly string[], second: readonly string[]): string[] {
  const byName = new Map<string, string>();
  for (const option of [...first, ...second]) byName.set(option.split(':')[0] ?? option, option);
  return [...byName.values()];
}

function unique(items: readonly string[]): string[] {
  return [...new Set(items)];
}
