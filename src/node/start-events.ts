import type { Component } from '../base/component.ts';
import { nodeEvents } from '../model/event-reasons.ts';
import type { ObjectEvent } from '../model/object-event.ts';
import type { NodeEvents } from './ports.ts';

export interface StartFacts {
  readonly cgroupVersion: 1 | 2;
  readonly swapOn: boolean;
  /** Memory-backed file systems can be kept out of swap. */
  readonly tmpfsNoSwap: boolean;
  /** Size of the file system of images, if the runtime has reported it. */
  readonly imageFsBytes?: bigint;
  /** How the previous run of the agent ended, unless it ended normally. */
  readonly lastRun?: LastRunFacts | undefined;
}

interface LastRunFacts {
  readonly kind: string;
  readonly message: string;
}

/** The events of the node after each start. */
export function startEvents({
  cgroupVersion,
  swapOn,
  tmpfsNoSwap,
  imageFsBytes,
  lastRun,
}: StartFacts): readonly ObjectEvent[] {
  const warning = (when: boolean, reason: string, message: string): readonly ObjectEvent[] =>
    when ? [{ type: 'Warning', reason, message }] : [];
  return [
    { type: 'Normal', reason: nodeEvents.starting, message: 'Starting kubelet.' },
    ...lastRunEvents(lastRun),
    ...warning(
      swapOn && !tmpfsNoSwap,
      nodeEvents.possibleMemoryBackedVolumesOnDisk,
      'The tmpfs noswap option is not supported. Memory-backed volumes (e.g. secrets, emptyDirs, etc.) might be ' +
        'swapped to disk and should no longer be considered secure.',
    ),
    ...warning(
      cgroupVersion === 1,
      nodeEvents.cgroupV1,
      'cgroup v1 support is in maintenance mode, please migrate to cgroup v2',
    ),
    ...warning(imageFsBytes === 0n, nodeEvents.invalidDiskCapacity, 'invalid capacity 0 on image filesystem'),
  ];
}

/** Records the events after each start. */
export class StartEvents implements Component {
  readonly name = 'start-events';
  readonly #events: NodeEvents;
  readonly #facts: StartFacts;

  constructor(events: NodeEvents, facts: StartFacts) {
    this.#events = events;
    this.#facts = facts;
  }

  async start(): Promise<void> {
    for (const event of startEvents(this.#facts)) this.#events.record(event);
  }

  async stop(): Promise<void> {}
}

/** Ends that need no event: a restarted machine has its own event, and an interrupted stop was requested. */
const expectedEnds: ReadonlySet<string> = new Set(['stillRunning', 'machineRestarted', 'stopCutOff']);

function lastRunEvents(lastRun: LastRunFacts | undefined): readonly ObjectEvent[] {
  if (lastRun === undefined || expectedEnds.has(lastRun.kind)) return [];
  const { kind, message } = lastRun;
  const { kubeletHeapExhausted, kubeletEndedUnexpectedly } = nodeEvents;
  return [
    { type: 'Warning', reason: kind === 'heapExhausted' ? kubeletHeapExhausted : kubeletEndedUnexpectedly, message },
  ];
}

/** The agent cannot start; recorded as an event, because operators read those first. */
export function setupFailedEvent(why: string): ObjectEvent {
  return { type: 'Warning', reason: nodeEvents.kubeletSetupFailed, message: why };
}
