import { Broadcaster } from '../../base/broadcaster.ts';
import type { Log } from '../../base/log.ts';
import { createNodeSignals, type NodeSignals } from '../../node/index.ts';
import { createPodSignals, type PodSignals } from '../../pods/create-signals.ts';

/** Signals between subsystems. All of them exist before the first component does. */
export interface AgentSignals extends PodSignals {
  readonly node: NodeSignals;
  /** A storage driver of that name was registered or removed. */
  readonly driverChanged: Broadcaster<string>;
  /** Storage that did not answer may answer now. */
  readonly storageAnswers: Broadcaster<void>;
}

export function createSignals(log: Log): AgentSignals {
  return {
    ...createPodSignals(log),
    node: createNodeSignals(),
    driverChanged: new Broadcaster(),
    storageAnswers: new Broadcaster(),
  };
}
