import assert from 'node:assert/strict';
import { parseMountInfo, type MountEntry } from '../../src/host/index.ts';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import type { RealNode } from './real-node.ts';
import { containerOf, endedPod, podOf, podWhen, saidBy, shell } from './real-pods.ts';
import type { Program } from './real-program.ts';
import { until } from './real-wait.ts';

type Fields = Readonly<Record<string, unknown>>;

export const object = (kind: string, name: string, more: object): object => ({
  apiVersion: 'v1',
  kind,
  metadata: { name },
  ...more,
});

/** A mount of a volume at a folder of its name. */
export const mountPath = (name: string, more: object = {}): object => ({ name, mountPath: `/${name}`, ...more });

export const hostPath = (name: string, path: string, type?: string): { name: string; hostPath: object } => ({
  name,
  hostPath: { path, ...(type !== undefined && { type }) },
});

/** Says mode, owner and name of paths, with the names of folders of contents in short. */
export const look = (path: string): string => `stat -c '%a %u:%g %n' ${path} | sed 's/[.][.]20[0-9_.]*/..stamp/'`;

/** Says what is mounted at paths, for `mountsIn`. */
export const mountsAt = (...paths: readonly string[]): string =>
  paths.map((path) => `echo "mount $(grep ' ${path} ' /proc/self/mountinfo | tail -n 1)"`).join('\n');

/** What a container saw mounted, by path. */
export function mountsIn(words: readonly string[]): ReadonlyMap<string, MountEntry> {
  const lines = words.filter((word) => word.startsWith('mount ')).map((word) => word.slice('mount '.length));
  return new Map(parseMountInfo(lines.join('\n')).map((mount) => [mount.mountPoint, mount]));
}

/** The rest of what it said. */
export const wordsIn = (words: readonly string[]): readonly string[] =>
  words.filter((word) => !word.startsWith('mount '));

/** Pods of a test that look at their volumes from inside. */
export class VolumePods {
  readonly #node: RealNode;
  readonly #agent: () => Program;

  constructor(node: RealNode, agent: () => Program) {
    this.#node = node;
    this.#agent = agent;
  }

  put(name: string, spec: Fields, metadata: Fields = {}): void {
    const usual = { restartPolicy: 'Never', terminationGracePeriodSeconds: 1 };
    this.#node.put(name, podOf(name, { ...usual, ...spec }, metadata));
  }

  /** One container that runs a script with volumes. */
  putScript(
    name: string,
    script: readonly string[],
    { volumes, container = {}, ...spec }: Fields & { readonly volumes: readonly Fields[]; readonly container?: Fields },
    metadata: Fields = {},
  ): void {
    const volumeMounts = volumes.map((volume) => mountPath(String(volume['name'])));
    const main = shell('main', this.#node.image, script.join('\n'), { volumeMounts, ...container });
    this.put(name, { ...spec, volumes, containers: [main] }, metadata);
  }

  /** What a script said in a pod that must succeed. */
  async said(name: string, container = 'main'): Promise<readonly string[]> {
    const pod = await endedPod(this.#node, name);
    const words = saidBy(this.#node, pod, container);
    assert.equal(pod.status?.phase, 'Succeeded', `${JSON.stringify(pod.status)}\n${words.join('\n')}`);
    return words;
  }

  /** Waits until the agent has told of a pod why it does not start; the quotes of the log are put back. */
  async told(message: string): Promise<void> {
    const text = (): string => this.#agent().text.replaceAll('\\"', '"');
    await until(`"${message}" is told`, () => text().includes(message), { state: () => text().slice(-3_000) });
  }

  /** Why a container cannot be made. */
  async refusal(name: string, container = 'main'): Promise<string> {
    const waiting = (pod: Pod) => containerOf(pod, container).state?.waiting;
    const isRefused = (pod: Pod): boolean => /^Create\w+Error$/.test(waiting(pod)?.reason ?? '');
    const pod = await podWhen(this.#node, name, 'is refused', isRefused);
    return `${waiting(pod)?.reason}: ${waiting(pod)?.message}`;
  }
}
