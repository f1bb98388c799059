import { Broadcaster } from '../../base/broadcaster.ts';
import type { Log } from '../../base/log.ts';
import { createNodeSignals, type NodeSignals } from '../../node/index.ts';
import { createPodSignals, type PodSignals } from '../../pods/create-signals.ts';

/** What subsystems tell each other by. All of it exists before the first component does. */
export interface AgentSignals extends PodSignals {
  readonly node: NodeSignals;
  /** A storage driver of that name came or went. */
  readonly driverChanged: Broadcaster<string>;
  /** Storage that did not answer may do so now. */
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
