import type { ApiObjects } from './api-objects.ts';
import type { PodObjects } from './ports.ts';
import type { PodTokens } from './tokens/pod-tokens.ts';

/** The objects of pods for their syncs; requests the pod's tokens along with them. */
export function podObjectsOfApi(objects: ApiObjects, tokens: Pick<PodTokens, 'prefetch'>): PodObjects {
  return {
    ready: (pod, signal) => {
      tokens.prefetch(pod, signal);
      return objects.ready(pod, signal);
    },
    configMap: (namespace, name) => objects.configMap(namespace, name),
    secret: (namespace, name) => objects.secret(namespace, name),
    problem: (kind, namespace, name) => objects.problem(kind, namespace, name),
  };
}
