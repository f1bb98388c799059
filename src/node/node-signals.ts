import { Broadcaster } from '../base/broadcaster.ts';
import { Due } from '../base/due.ts';
import type { Node } from '../gen/kubernetes/types.ts';

/** Signals about the node. They exist before their senders and receivers. */
export interface NodeSignals {
  /** An input of the node's status has changed. */
  readonly statusDue: Due;
  /** The node as this machine sees itself. */
  readonly own: Broadcaster<Node>;
  /** There is a node, as the API server has it where that is known. Once in the life of the agent. */
  readonly registered: Broadcaster<Node | undefined>;
  /** The node may have other addresses now. */
  readonly addressesChanged: Broadcaster<void>;
}

export function createNodeSignals(): NodeSignals {
  return {
    statusDue: new Due(),
    own: new Broadcaster<Node>(),
    registered: new Broadcaster<Node | undefined>(),
    addressesChanged: new Broadcaster<void>(),
  };
}
