import { nodeEvents } from '../model/event-reasons.ts';
import type { NodeEvent } from './ports.ts';

export interface StartFacts {
  readonly cgroupVersion: 1 | 2;
  readonly swapBytes: bigint;
  /** Memory-backed file systems can be kept out of swap. */
  readonly tmpfsNoSwap: boolean;
  /** Size of the file system of images, where the runtime has said it. */
  readonly imageFsBytes?: bigint;
}

/** What an operator should see among the node's events after each start. */
export function startEvents({ cgroupVersion, swapBytes, tmpfsNoSwap, imageFsBytes }: StartFacts): readonly NodeEvent[] {
  const warning = (when: boolean, reason: string, message: string): readonly NodeEvent[] =>
    when ? [{ type: 'Warning', reason, message }] : [];
  return [
    { type: 'Normal', reason: nodeEvents.starting, message: 'Starting kubelet.' },
    ...warning(
      swapBytes > 0n && !tmpfsNoSwap,
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

/** The agent cannot go on; said once more where people look for reasons. */
export function setupFailedEvent(why: string): NodeEvent {
  return { type: 'Warning', reason: nodeEvents.kubeletSetupFailed, message: why };
}
