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
  /** Where it does as CRI allows and containerd does not. */
  readonly habits?: readonly Habit[];
}

/** What the agent must bear in a runtime, because one of those that people run does it. */
export type Habit =
  /** A second sandbox or container of a name is the first one, and no error. */
  | 'taken names are answered'
  /** CreateContainer finds that the program is not there; no container is left. */
  | 'creation tries the program'
  /** ExecSync that takes too long is an exit code; and a container that was never started runs commands. */
  | 'commands do not fail'
  /** Requests for streams are not looked at before a client comes for them. */
  | 'streams are not checked'
  /** StopContainer of a container that was never started ends its life. */
  | 'created containers are stopped'
  /** Some calls about what is not there fail without a code: creation, stats, changes of resources and of logs. */
  | 'some failures have no code'
  /** A stop without a grace sends the stop signal all the same, right before the kill. */
  | 'kills are announced'
  /** StopContainer of a container that has ended moves the time of its end. */
  | 'stopping moves the end';

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
