import type { ContainerStatus, Pod, PodStatus } from '../../src/gen/kubernetes/types.ts';
import type { CriLogLine } from '../../src/pods/logs/index.ts';
import type { Fields, PodPlan } from './plan.ts';

/**
 * Where a story is played: on a fake runtime in virtual time, or on containerd. A story only says what the programs do
 * and what must be seen; what it takes to make that happen is the stage's affair. Seconds are those of the stage.
 */
export interface Stage {
  readonly machine: Machine;
  /** Puts a pod's manifest into the folder. */
  give(plan: PodPlan): Promise<StagePod>;
  /** Puts a ConfigMap or a Secret there. */
  giveObject(name: string, object: Fields): Promise<void>;
  /** Time goes by. */
  pass(seconds: number): Promise<void>;
  /** A gRPC health service that pods in the machine's network reach. */
  health(): Promise<HealthService>;
  restartAgent(how: 'kill' | 'graceful'): Promise<void>;
  /** The story is over. */
  close(): Promise<void>;
}

export type OpenStage = () => Promise<Stage>;

/** One pod of a story, from its manifest to its end. */
export interface StagePod {
  /** With the node's behind it. */
  readonly name: string;
  /** The pod once it is as wanted. */
  when(what: string, isSo: (pod: Pod) => boolean, seconds?: number): Promise<Pod>;
  now(): Promise<Pod | undefined>;
  edit(plan: PodPlan): Promise<void>;
  /** Deletes the manifest and writes it anew, the same, with nothing in between. */
  writeAnew(): Promise<void>;
  /** Puts a new file with the same contents in the place of the manifest, by a rename. */
  replaceFile(): Promise<void>;
  /** Takes the manifest away. */
  remove(): Promise<void>;
  /** Waits until the runtime has nothing of it left. */
  gone(seconds?: number): Promise<void>;
  /** Something outside its programs changes: a file is there, `GET /name` is answered. */
  turn(name: string, on: boolean): Promise<void>;
  readonly seen: SeenPod;
  inside(container: string): Inside;
}

/** What was seen of a pod. */
export interface SeenPod {
  /** Statuses in order: all of them, or what looks every now and then have caught. */
  statuses(): readonly PodStatus[];
  events(): readonly SeenEvent[];
  /** Containers of the runtime: `main#0 running`, or `ended`; sorted. */
  containers(): Promise<readonly string[]>;
  /** What programs and commands did, and when: `main starts`, `main asked` to end, `main ends`, and words of commands. */
  trail(): Promise<readonly Mark[]>;
  /** The log of one instance, every line of which must be in the form of CRI. */
  log(container: string, instance?: number): Promise<readonly CriLogLine[]>;
  /** All files of a container's log, by name, with what is in them. */
  logFiles(container: string): Promise<ReadonlyMap<string, string>>;
}

export interface SeenEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

export interface Mark {
  readonly at: number;
  readonly word: string;
}

/** A running container from inside: what its processes find, or what a runtime was told to make them find. */
export interface Inside {
  env(): Promise<Readonly<Record<string, string>>>;
  /** Command and arguments of the first process, and where it runs. */
  process(): Promise<{ readonly words: readonly string[]; readonly folder: string }>;
  hostname(): Promise<string>;
  hosts(): Promise<string>;
  resolvConf(): Promise<Resolver>;
  rights(): Promise<Rights>;
  cgroup(): Promise<Limits>;
}

export interface Resolver {
  readonly nameserver: readonly string[];
  readonly search: readonly string[];
  readonly options: readonly string[];
}

/** Fields of /proc/1/status, and whether the root of the file system can be written to. */
export type Rights = Readonly<
  Record<'Uid' | 'Gid' | 'Groups' | 'CapEff' | 'CapBnd' | 'NoNewPrivs' | 'Seccomp', string>
> & { readonly root: 'writable' | 'read-only' };

export interface Limits {
  /** The cgroup above the container's, below the node's root. */
  readonly parent: string;
  /** Where the machine has version 1. */
  readonly cpuShares?: number;
  /** Where it has version 2. */
  readonly cpuWeight?: number;
  readonly cpuQuotaUs: number | 'max';
  readonly memoryBytes: number | 'max';
  readonly oomScoreAdj: number;
}

/** What pods see of the machine they run on. */
export interface Machine {
  readonly image: string;
  readonly hostname: string;
  readonly hosts: string;
  readonly resolver: Resolver;
  readonly memoryBytes: number;
  /** Below this the runtime cannot go. */
  readonly lowestOomScore: number;
  /** What a privileged container may do, and what filters one that nobody filters. */
  readonly allCapabilities: string;
  readonly unconfined: string;
}

export interface HealthService {
  readonly port: number;
  serving: boolean;
  /** Services that were asked for. */
  readonly asked: ReadonlySet<string>;
}

export function containerOf(pod: Pod, name = 'main'): ContainerStatus {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  const found = [...initContainerStatuses, ...containerStatuses].find((status) => status.name === name);
  if (found === undefined) throw new Error(`no container ${name} in ${JSON.stringify(pod.status)}`);
  return found;
}

export function conditionOf(pod: Pod, type = 'Ready'): string | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type)?.status;
}

export const isReady = (pod: Pod): boolean => conditionOf(pod) === 'True';
export const isOver = ({ status }: Pod): boolean => /^(Succeeded|Failed)$/.test(status?.phase ?? '');

/** Whether a container runs that has been restarted so often. */
export function runsAgain(times: number, container = 'main'): (pod: Pod) => boolean {
  return (pod) => {
    if (pod.status?.containerStatuses === undefined) return false;
    const { restartCount, state } = containerOf(pod, container);
    return restartCount === times && state?.running !== undefined;
  };
}

/** Whether a container waits for this reason. */
export function waitsFor(reason: string, container = 'main'): (pod: Pod) => boolean {
  return (pod) =>
    pod.status?.containerStatuses !== undefined && containerOf(pod, container).state?.waiting?.reason === reason;
}

/** When something was first done; fails when it never was. */
export function momentOf(trail: readonly Mark[], word: string): number {
  const found = trail.find((mark) => mark.word === word);
  if (found === undefined) throw new Error(`nothing says "${word}": ${JSON.stringify(trail)}`);
  return found.at;
}

export const wordsOf = (trail: readonly Mark[]): readonly string[] => trail.map(({ word }) => word);
