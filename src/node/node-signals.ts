import { Broadcaster } from '../base/broadcaster.ts';
import { Due } from '../base/due.ts';
import type { Node } from '../gen/kubernetes/types.ts';

/** Whether the machine is going down. The manager of the shutdown writes it; node and admission read it. */
class ShutdownFlag {
  #isSet = false;

  isSet(): boolean {
    return this.#isSet;
  }

  set(isSet: boolean): void {
    this.#isSet = isSet;
  }
}

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
  readonly shutdown: ShutdownFlag;
}

export function createNodeSignals(): NodeSignals {
  return {
    statusDue: new Due(),
    own: new Broadcaster<Node>(),
    registered: new Broadcaster<Node | undefined>(),
    addressesChanged: new Broadcaster<void>(),
    shutdown: new ShutdownFlag(),
  };
}
