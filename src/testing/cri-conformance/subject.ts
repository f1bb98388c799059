import type { Clock } from '../../base/clock.ts';
import type { Cri } from '../../cri/index.ts';

/** A runtime to be examined. */
export interface ConformanceSubject {
  readonly cri: Cri;
  readonly clock: Clock;
  /** An image with busybox in it, present in the store. */
  readonly image: string;
  /** An empty folder for logs, seen by the runtime under the same path. */
  readonly folder: string;
  /** Parent cgroup for pods; empty for the runtime's default. */
  readonly cgroupParent?: string;
}

export interface ConformanceOptions {
  readonly name: string;
  readonly setup: () => Promise<ConformanceSubject>;
  readonly teardown?: () => Promise<void>;
}

/**
 * What the suite runs in containers. Real runtimes run the command; a fake knows the programs by the name, which the
 * suite gives the container.
 */
export const programs = {
  /** Runs until it is killed; as first process of its namespace it does not heed SIGTERM. */
  sleeper: ['sleep', '3600'],
  /** Says `ready`, and ends with 5 at SIGTERM. */
  polite: ['sh', '-c', 'trap "exit 5" TERM; echo ready; while :; do sleep 0.05; done'],
  /** Says `ready`, and ends at SIGKILL only. */
  stubborn: ['sh', '-c', 'trap "" TERM; echo ready; while :; do sleep 1; done'],
  'exits-0': ['sh', '-c', 'exit 0'],
  'exits-3': ['sh', '-c', 'exit 3'],
  /** A line to each stream, then a rest without a line end. */
  talker: ['sh', '-c', 'echo one; echo two >&2; printf three'],
  'no-program': ['/no/such/program'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type ProgramName = keyof typeof programs;

/** What the suite runs by ExecSync. */
export const commands = {
  /** Writes `out` and `err`, ends with 7. */
  fails: ['sh', '-c', 'echo out; echo err >&2; exit 7'],
  succeeds: ['true'],
  /** Takes half a minute. */
  lingers: ['sleep', '30'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
