import type { Pod, PodStatus } from '../../../src/gen/kubernetes/types.ts';
import type { WorldKind } from './case.ts';
import type { Touch } from './watched-disk.ts';
import type { GoodPod } from './world.ts';

export interface LogLine {
  readonly severity: string;
  readonly message: string;
  /** As it is written, with all its fields. */
  readonly text: string;
  /** The file that it is about. */
  readonly path: string | undefined;
  /** The words of its error and the names of the classes of that and its causes. */
  readonly error: string | undefined;
  readonly errorNames: readonly string[];
}

export interface Request {
  readonly verb: string;
  readonly request: unknown;
}

interface SeenEvent {
  readonly pod: string;
  readonly reason: string;
  readonly message: string;
}

/** What came of a case, as plain data: all that is judged. */
export interface Played {
  readonly world: WorldKind;
  /** Names of the files that stood in the folder. */
  readonly files: readonly string[];
  readonly cpuMs: number;
  /** What went wrong with the play itself: the node did not come to rest, or threw. */
  readonly broken: readonly string[];
  readonly log: readonly LogLine[];
  readonly events: readonly SeenEvent[];
  /** The hostile pods that were taken, with what is said of them; no status where there is none. */
  readonly pods: readonly { readonly pod: Pod; readonly isStatic: boolean; readonly status: PodStatus | undefined }[];
  readonly touches: readonly Touch[];
  /** Paths of the node that the pods were given on purpose. */
  readonly hostPaths: readonly string[];
  /** Changing calls of the runtime. */
  readonly requests: readonly Request[];
  /** Objects that were asked of the API server: `configmaps default/name`. */
  readonly apiReads: readonly string[];
  readonly goodBefore: readonly GoodPod[];
  readonly goodAfter: readonly GoodPod[];
  /** What is left of the hostile pods in the end. */
  readonly left: readonly string[];
}

/** What must be the same when a case is played again: nothing with an id or a time in it. */
export function outcomeOf({ files, log, pods }: Played): string {
  const reports = log.filter(({ path, severity }) => path !== undefined && severity !== 'debug');
  const lines = [
    ...files,
    ...reports.map(({ message, error }) => `${message} ${error ?? ''}`),
    ...pods
      .map(({ pod, status }) => `${pod.metadata?.namespace}/${pod.metadata?.name} ${describeStatus(status)}`)
      .toSorted(),
  ];
  return lines.join('\n');
}

function describeStatus(status: PodStatus | undefined): string {
  if (status === undefined) return 'no status';
  const containers = status.containerStatuses?.map(
    ({ name, state }) => `${name} ${Object.keys(state ?? {}).join()} ${state?.waiting?.reason ?? ''}`,
  );
  return `${status.phase} ${status.reason ?? ''} ${containers?.join(', ') ?? ''}`;
}
