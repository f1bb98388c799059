import { isIPv6 } from 'node:net';
import type { Node, Taint } from '../gen/kubernetes/types.ts';
import type { Mirror } from '../model/api-client.ts';
import type { Amounts } from '../model/node-allocatable.ts';

interface NodeViewDeps {
  readonly nodeName: string;
  /** What the API server says; none without one. */
  readonly mirror: Pick<Mirror<Node>, 'get'> | undefined;
  /** Resources of devices by this agent's own word: what the API server says of them may be of the kubelet before. */
  readonly devices: Amounts;
  /** The addresses of the machine, for as long as those of the node are not known. */
  readonly outwardAddresses: () => readonly string[];
}

/** The node for those who only read. */
export type NodeReader = Omit<NodeView, 'setOwn'>;

/**
 * The node as everybody here sees it. The API server's word counts, for operators change nodes there; where it has none
 * (not yet, or no more, or no server) it is what this machine would register.
 */
export class NodeView {
  readonly #deps: NodeViewDeps;
  #own: Node | undefined;

  constructor(deps: NodeViewDeps) {
    this.#deps = deps;
  }

  /** What this machine says of itself. */
  setOwn(node: Node): void {
    this.#own = node;
  }

  node(): Node | undefined {
    return this.#deps.mirror?.get({ name: this.#deps.nodeName }) ?? this.#own;
  }

  labels(): Readonly<Record<string, string>> {
    return this.node()?.metadata?.labels ?? {};
  }

  annotations(): Readonly<Record<string, string>> {
    return this.node()?.metadata?.annotations ?? {};
  }

  taints(): readonly Taint[] {
    return this.node()?.spec?.taints ?? [];
  }

  allocatable(): Amounts {
    return { ...(this.node()?.status?.allocatable ?? this.#own?.status?.allocatable), ...this.#deps.devices };
  }

  /** The address by which pods know their host, and the first one of the other family. */
  hostIps(): readonly string[] {
    for (const node of [this.node(), this.#own]) {
      const known = addressesOf(node);
      if (known.length > 0) return known;
    }
    return this.#deps.outwardAddresses();
  }
}

function addressesOf(node: Node | undefined): readonly string[] {
  const of = (wanted: string): readonly string[] =>
    (node?.status?.addresses ?? []).filter(({ type }) => type === wanted).map(({ address }) => address);
  const all = [...of('InternalIP'), ...of('ExternalIP')];
  const [first] = all;
  if (first === undefined) return [];
  const second = all.find((address) => isIPv6(address) !== isIPv6(first));
  return second === undefined ? [first] : [first, second];
}
