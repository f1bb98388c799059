import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import type { Pod } from '../gen/kubernetes/types.ts';
import { httpGet } from './http-probe.ts';
import { sampleLabel } from './sample-pod.ts';

const timeoutMs = 5_000;

/** The pods as the agent sees them. */
export async function fetchPods(socketPath: string, clock: Clock): Promise<readonly Pod[]> {
  const answer = await httpGet('http://localhost/pods', clock, timeoutMs, socketPath);
  if (answer.status !== 200) throw new TubeletError('unavailable', `the agent answers ${answer.status} to /pods`);
  const list: unknown = JSON.parse(answer.body);
  if (typeof list !== 'object' || list === null) throw new TubeletError('internal', '/pods is not a list of pods');
  return 'items' in list && Array.isArray(list.items) ? (list.items as Pod[]) : [];
}

interface Readiness {
  readonly ready: boolean;
  /** The address of the awaited pod, if it serves one. */
  readonly url?: string;
}

/**
 * Whether the pods are ready: the sample pod when there is one, otherwise every pod. `expected` means that
 * manifests exist, so that an agent that has not read them yet does not count as ready.
 */
export function readinessOf(pods: readonly Pod[], expected: boolean): Readiness {
  const sample = pods.filter((pod) => pod.metadata?.labels?.[sampleLabel] === 'true');
  const awaited = sample.length > 0 ? sample : pods;
  if (awaited.length === 0) return { ready: !expected };
  const ready = awaited.every((pod) => pod.status?.phase === 'Succeeded' || isReady(pod));
  const url = awaited.map(urlOf).find((found) => found !== undefined);
  return ready && url !== undefined ? { ready, url } : { ready };
}

/** Answers whether the pod's page can be read. */
export async function answers(url: string, clock: Clock): Promise<boolean> {
  try {
    return (await httpGet(url, clock, timeoutMs)).status === 200;
  } catch {
    // Not listening yet is not a failure; the caller asks again.
    return false;
  }
}

function isReady(pod: Pod): boolean {
  return (pod.status?.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True');
}

function urlOf(pod: Pod): string | undefined {
  const ports = (pod.spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  const port = ports.find((entry) => (entry.protocol ?? 'TCP') === 'TCP')?.containerPort;
  return port === undefined || !pod.status?.podIP ? undefined : `http://${pod.status.podIP}:${port}/`;
}
