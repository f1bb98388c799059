/** A pod of a story: its manifest, with what its programs do in place of commands. */

export type Fields = Readonly<Record<string, unknown>>;

export interface PodPlan {
  readonly name: string;
  readonly init?: readonly ContainerPlan[];
  readonly containers: readonly ContainerPlan[];
  /** Whatever else is in the spec. */
  readonly spec?: Fields;
  readonly metadata?: Fields;
}

export interface ContainerPlan {
  readonly name: string;
  /** What its first start does, its second, and so on; the last one stays. */
  readonly does: readonly Program[];
  /** Whatever else is said of the container; an image or a command of its own wins. */
  readonly more: Fields;
}

/** What one start of a container does; by default it runs until it is asked to end, and ends well. Times in seconds. */
export interface Program {
  /** Ends by itself after so long, or once something is turned on. */
  readonly runs?: number | { readonly until: string };
  /** Exit code of its own end. */
  readonly exits?: number;
  readonly prints?: readonly string[];
  /** On standard error. */
  readonly complains?: readonly string[];
  /** A line without an end. */
  readonly breaksOff?: string;
  /** Goes on printing numbered lines of 80 characters, a portion every second. */
  readonly chatters?: { readonly lines: number; readonly times: number };
  /** Its last words, for the file of its termination message. */
  readonly leaves?: string;
  /** What it does when it is asked to end. */
  readonly onTerm?: 'ignore' | { readonly after?: number; readonly exits?: number };
  /** A port on which it serves HTTP: `GET /name` for what is turned on, and `GET /cgi-bin/mark?word` for the trail. */
  readonly serves?: number;
}

export function container(name: string, does: Program | readonly Program[] = {}, more: Fields = {}): ContainerPlan {
  return { name, does: isList(does) ? does : [does], more };
}

const isList = (does: Program | readonly Program[]): does is readonly Program[] => Array.isArray(does);

export const sidecar = (name: string, does: Program | readonly Program[] = {}, more: Fields = {}): ContainerPlan =>
  container(name, does, { restartPolicy: 'Always', ...more });

/** A command for probes and hooks: what it does, in this order. */
interface Command {
  /** A word for the trail. */
  readonly marks?: string;
  /** Seconds. */
  readonly takes?: number;
  readonly prints?: string;
  /** Fails unless this is turned on. */
  readonly wants?: string;
  readonly exits?: number;
}

/** The folder that a pod shares with its stage, as the pod sees it. */
export const storyFolder = '/story';

/** Shell words that put a word on the trail, with the machine's uptime before it. */
export const markScript = 'read up rest < /proc/uptime; echo "$up $word" >> /story/trail';

/** The command as programs of the real world run it. Its meaning is its last argument, which those do not look at. */
export function command(does: Command): Fields {
  const { marks, takes, prints, wants, exits = 0 } = does;
  const script = [
    ...(marks === undefined ? [] : [`word=${quote(marks)}`, markScript]),
    ...(takes === undefined ? [] : [`sleep ${takes}`]),
    ...(prints === undefined ? [] : [`echo ${quote(prints)}`]),
    ...(wants === undefined ? [] : [`[ -f ${storyFolder}/${wants} ] || exit 1`]),
    `exit ${exits}`,
  ];
  return { exec: { command: ['sh', '-c', script.join('; '), 'story', JSON.stringify(does)] } };
}

/** What a command means; nothing where it is none of a story. */
export function commandIn(words: readonly string[]): Command | undefined {
  return words[3] === 'story' ? (JSON.parse(words[4] ?? '{}') as Command) : undefined;
}

/** A file's content in the pod's folder is its script. */
export const scriptFile = (container: string): string => `${container}.sh`;

export function manifestOf(plan: PodPlan, image: string, folder: string): object {
  const containerOf = ({ name, more }: ContainerPlan): Fields => ({
    name,
    image,
    command: ['sh', `${storyFolder}/${scriptFile(name)}`],
    volumeMounts: [{ name: 'story', mountPath: storyFolder }],
    ...more,
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: plan.name, namespace: 'default', ...plan.metadata },
    spec: {
      terminationGracePeriodSeconds: 2,
      dnsPolicy: 'Default',
      ...plan.spec,
      volumes: [{ name: 'story', hostPath: { path: folder } }],
      ...(plan.init && { initContainers: plan.init.map(containerOf) }),
      containers: plan.containers.map(containerOf),
    },
  };
}

export function containersOf(plan: PodPlan): readonly ContainerPlan[] {
  return [...(plan.init ?? []), ...plan.containers];
}

/** Where a container leaves its last words. */
export function finalFlushPath({ more }: ContainerPlan): string {
  const { terminationMessagePath = '/dev/termination-log' } = more;
  return String(terminationMessagePath);
}

/** Line `number` of those that a program chatters. */
export const chatterLine = (number: number): string => String(number).padStart(80, '0');

export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
