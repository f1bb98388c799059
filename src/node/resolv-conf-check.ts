import type { Component } from '../base/component.ts';
import { messageOf } from '../base/errors.ts';
import { dnsLimits, type HostDns } from '../model/dns.ts';
import { nodeEvents } from '../model/event-reasons.ts';
import type { NodeEvents } from './ports.ts';

/** The resolver configuration of the host, which pods inherit. */
export interface HostResolver {
  /** Its file; empty where pods must not use it. */
  readonly path: string;
  readonly clusterDomain: string;
  read(): Promise<HostDns>;
}

/** The search domains that the cluster puts in front of the host's: `<namespace>.svc.<D>`, `svc.<D>` and `<D>`. */
const clusterSearches = 3;

/** Why pods will not get all search domains of the host; undefined when they will. */
export function checkResolvConf(
  path: string,
  { searches }: Pick<HostDns, 'searches'>,
  clusterDomain: string,
): string | undefined {
  const maxDomains = dnsLimits.searches - (clusterDomain === '' ? 0 : clusterSearches);
  const { searchCharacters } = dnsLimits;
  if (searches.length > maxDomains)
    return `Resolv.conf file '${path}' contains search line consisting of more than ${maxDomains} domains!`;
  if (searches.join(' ').length > searchCharacters)
    return `Resolv.conf file '${path}' contains search line which length is more than allowed ${searchCharacters} chars!`;
  return undefined;
}

/** Records once after each start that the host's search domains are too many for pods, or that nothing can read them. */
export class ResolvConfCheck implements Component {
  readonly name = 'resolv-conf-check';
  readonly #resolver: HostResolver;
  readonly #events: NodeEvents;
  #stopped = false;

  constructor(resolver: HostResolver, events: NodeEvents) {
    this.#resolver = resolver;
    this.#events = events;
  }

  /** The start of the agent does not wait for the file: it may lie on a file system that hangs. */
  async start(): Promise<void> {
    if (this.#resolver.path === '') return;
    void this.#problem().then((message) => {
      if (message === undefined || this.#stopped) return;
      this.#events.record({ type: 'Warning', reason: nodeEvents.checkLimitsForResolvConf, message });
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
  }

  async #problem(): Promise<string | undefined> {
    const { path, clusterDomain } = this.#resolver;
    try {
      return checkResolvConf(path, await this.#resolver.read(), clusterDomain);
    } catch (error) {
      return messageOf(error);
    }
  }
}
