import { isIPv6 } from 'node:net';
import type { Node, Taint } from '../gen/kubernetes/types.ts';
import type { Mirror } from '../model/api-client.ts';
import type { Amounts } from '../model/node-allocatable.ts';

interface NodeViewDeps {
  readonly nodeName: string;
  /** The API server's node; undefined without an API server. */
  readonly mirror: Pick<Mirror<Node>, 'get'> | undefined;
  /** Device resources by the agent's own report: those of the API server may be of an earlier kubelet. */
  readonly devices: Amounts;
  /** The addresses of the machine, for as long as those of the node are unknown. */
  readonly outwardAddresses: () => readonly string[];
}

/** The node for readers. */
export type NodeReader = Omit<NodeView, 'setOwn'>;

/**
 * The node as all other subsystems read it. The API server's object takes precedence, because operators change nodes
 * there; where it has none (not yet, not any more, or no server) it is the node that this machine would register.
 */
export class NodeView {
  readonly #deps: NodeViewDeps;
  #own: Node | undefined;

  constructor(deps: NodeViewDeps) {
    this.#deps = deps;
  }

  /** Sets the node that this machine would register. */
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
