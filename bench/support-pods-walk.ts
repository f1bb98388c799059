import type { Lapse } from './support-pods-cluster.ts';
import { median, type LogLine } from './support.ts';

/** A moment of a pod's walk, and how the agent's log tells it. */
interface Landmark {
  readonly what: string;
  /** The first such line after the landmark before counts, or the last one before the end. */
  readonly pick?: 'last';
  /** Such a line tells of something when it is over; what counts is when it began. */
  readonly at?: 'begin';
  readonly isAt: (line: LogLine, pod: WalkedPod) => boolean;
}

interface WalkedPod {
  readonly namespace: string;
  readonly name: string;
}

export interface Step {
  readonly what: string;
  readonly ms: number;
}

const call =
  (verb: string) =>
  (line: LogLine): boolean =>
    line.msg === 'Runtime call done' && line['verb'] === verb;

const request =
  (begin: string) =>
  (line: LogLine, { namespace, name }: WalkedPod): boolean =>
    line.msg === 'API request answered' &&
    String(line['request']).startsWith(begin) &&
    (!begin.includes('pods') || String(line['request']).endsWith(` ${namespace}/${name}`));

const told =
  (op: string) =>
  (line: LogLine, { namespace, name }: WalkedPod): boolean =>
    line.msg === `SyncLoop ${op}` && Array.isArray(line['pods']) && line['pods'].includes(`${namespace}/${name}`);

const ofPod = (line: LogLine, { name }: WalkedPod): boolean => JSON.stringify(line['pod'] ?? {}).includes(`"${name}"`);

/** From the request that makes a pod to the watch that shows it Ready. */
export const startOfPod: readonly Landmark[] = [
  { what: 'request sent → agent is told of the pod', isAt: told('ADD') },
  { what: '→ token answered', isAt: request('POST serviceaccounts/token') },
  {
    what: '→ objects and volumes ready, sandbox asked for',
    isAt: (line, pod) => line.msg === 'Creating pod sandbox' && ofPod(line, pod),
  },
  { what: '→ RunPodSandbox done', isAt: call('runPodSandbox') },
  { what: '→ address known (PodSandboxStatus)', isAt: call('podSandboxStatus') },
  { what: '→ image known (ImageStatus)', isAt: call('imageStatus') },
  { what: '→ environment, files, CreateContainer done', isAt: call('createContainer') },
  { what: '→ StartContainer done', isAt: call('startContainer') },
  { what: '→ looked at what runs (ContainerStatus)', isAt: call('containerStatus') },
  { what: '→ status computed and sent', pick: 'last', at: 'begin', isAt: request('PATCH pods/status') },
];

/** From the request that deletes a pod to the watch that shows it gone. */
export const endOfPod: readonly Landmark[] = [
  { what: 'request sent → agent is told of the deletion', isAt: told('DELETE') },
  { what: '→ stop asked for', isAt: (line) => line.msg === 'Killing container with a grace period' },
  { what: '→ StopContainer done', isAt: call('stopContainer') },
  { what: '→ StopPodSandbox done', isAt: call('stopPodSandbox') },
  { what: '→ looked at what is left (ContainerStatus)', isAt: call('containerStatus') },
  { what: '→ last status sent', pick: 'last', at: 'begin', isAt: request('PATCH pods/status') },
  { what: '→ volumes and cgroups released, removal sent', at: 'begin', isAt: request('DELETE pods') },
];

/** A watch may show what a request did before its answer is here. */
const answerMs = 2_000;

/** The time between one landmark and the next; one that the log does not tell adds nothing of its own. */
export function stepsOf(
  log: readonly LogLine[],
  pod: WalkedPod,
  { sentAt, seenAt }: Lapse,
  landmarks: readonly Landmark[],
): readonly Step[] {
  let last = sentAt;
  const steps = landmarks.map(({ what, pick, at, isAt }): Step => {
    const found = log
      .filter((line) => line.ts >= sentAt && line.ts <= seenAt + answerMs && isAt(line, pod))
      .map((line) => (at === 'begin' ? line.ts - Number(line['seconds']) * 1_000 : line.ts))
      .filter((ts) => ts >= last && ts <= seenAt);
    const next = (pick === 'last' ? found.at(-1) : found[0]) ?? last;
    const ms = next - last;
    last = next;
    return { what, ms };
  });
  return [...steps, { what: '→ seen by the watch', ms: seenAt - last }];
}

/** The median of each step over several walks. */
export function medianSteps(walks: readonly (readonly Step[])[]): readonly Step[] {
  const [first = []] = walks;
  return first.map(({ what }, index) => ({ what, ms: median(walks.map((steps) => steps[index]?.ms ?? Number.NaN)) }));
}
