import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ContainerStatus, Pod } from '../../src/gen/kubernetes/types.ts';
import { parseLogLine, type CriLogLine } from '../../src/pods/logs/index.ts';
import type { RealNode } from './real-node.ts';
import { until } from './real-wait.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Ends at once when it is asked to, which the first process of a container does not do by itself. */
export const idle = 'trap "exit 0" TERM; while true; do sleep 1000 & wait $!; done';

/** A pod that serves nothing and ends quickly. */
export function idlePod(name: string, image: string, containers: readonly string[] = ['main'], init?: string): object {
  return podOf(name, {
    terminationGracePeriodSeconds: 5,
    ...(init !== undefined && { initContainers: [shell('prepare', image, init)] }),
    containers: containers.map((container) => shell(container, image, idle)),
  });
}

export function podOf(name: string, spec: Fields, metadata: Fields = {}): object {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default', ...metadata }, spec };
}

/** A container that runs a script. References of the API's kind are expanded in it: no process ids by dollar signs. */
export function shell(name: string, image: string, script: string, more: Fields = {}): Fields {
  return { name, image, command: ['sh', '-c', script], ...more };
}

/** A folder of the machine that a pod and the test both see, so that what was written there outlives the pod. */
export class SharedFolder {
  readonly path: string;

  constructor(node: RealNode, name: string) {
    this.path = join(node.path, 'shared', name);
    mkdirSync(this.path, { recursive: true });
  }

  get volumes(): readonly Fields[] {
    return [{ name: 'shared', hostPath: { path: this.path } }];
  }

  readonly mounts = { volumeMounts: [{ name: 'shared', mountPath: '/shared' }] };

  file(name: string): string {
    return join(this.path, name);
  }
}

/** All pods of the agent, by the names of their manifests. */
export async function allPods(node: RealNode): Promise<ReadonlyMap<string, Pod>> {
  const { readOnlyPort } = JSON.parse(readFileSync(node.names.kubeletConfig, 'utf8')) as { readOnlyPort: number };
  const answer = await fetch(`http://127.0.0.1:${readOnlyPort}/pods`, { signal: AbortSignal.timeout(5_000) });
  const { items } = (await answer.json()) as { readonly items: readonly Pod[] };
  return new Map(items.map((pod) => [(pod.metadata?.name ?? '').replace(/-node-1$/, ''), pod]));
}

/** The pod once it is as wanted. */
export function podWhen(
  node: RealNode,
  name: string,
  what: string,
  isSo: (pod: Pod) => boolean,
  timeoutMs = 60_000,
): Promise<Pod> {
  return until(
    `pod ${name} ${what}`,
    async () => {
      const pod = await node.pod(name);
      return pod !== undefined && isSo(pod) && pod;
    },
    { timeoutMs, state: async () => (await node.pod(name))?.status },
  );
}

/** The pod once nothing of it runs any more nor will. */
export function endedPod(node: RealNode, name: string): Promise<Pod> {
  return podWhen(node, name, 'has ended', ({ status }) => /Succeeded|Failed/.test(status?.phase ?? ''));
}

export function containerOf(pod: Pod, name: string): ContainerStatus {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  const found = [...initContainerStatuses, ...containerStatuses].find((status) => status.name === name);
  if (found === undefined) throw new Error(`no container ${name} in ${JSON.stringify(pod.status)}`);
  return found;
}

/** The log of one instance of a container, which must consist of lines in the form of CRI. */
function readLog(node: Pick<RealNode, 'names'>, pod: Pod, container: string, instance: number): readonly CriLogLine[] {
  const { namespace = '', name = '', uid = '' } = pod.metadata ?? {};
  const path = join(node.names.podLogs, `${namespace}_${name}_${uid}`, container, `${instance}.log`);
  return lines(readFileSync(path, 'latin1')).map((text) => {
    const line = parseLogLine(Buffer.from(text, 'latin1'));
    if (line === undefined) throw new Error(`${path} has a line of another form: ${text}`);
    return line;
  });
}

/** What a container said on both outputs. */
export function saidBy(node: Pick<RealNode, 'names'>, pod: Pod, container: string, instance = 0): readonly string[] {
  return readLog(node, pod, container, instance).map(({ content }) => content.toString());
}

/** Lines without their ends; the last must have one. */
function lines(text: string): readonly string[] {
  return text.split('\n').slice(0, -1);
}
