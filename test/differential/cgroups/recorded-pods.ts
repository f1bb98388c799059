import type { Pod } from '../../../src/gen/kubernetes/types.ts';
import { desiredPod, type DesiredPod } from '../../../src/model/desired-pod.ts';
import { loadTable } from '../compare-rows.ts';

/** The pods of the tables by name. They were given to the recorded functions as they are, without defaults. */
export function recordedPods(): ReadonlyMap<string, DesiredPod> {
  const pods = Object.entries(loadTable<Readonly<Record<string, Pod>>>('cgroups/pods'));
  return new Map(pods.map(([name, pod]) => [name, desiredPod(isFile(pod) ? 'file' : 'api', pod)] as const));
}

const isFile = (pod: Pod): boolean => pod.metadata?.annotations?.['kubernetes.io/config.source'] === 'file';
