import { Reflector, withoutManagedFields, type HttpApiClient } from '../../apiserver/index.ts';
import type { Clock } from '../../base/clock.ts';
import type { PodUid } from '../../base/ids.ts';
import { Limiter } from '../../base/limiter.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { ConfigMap, Node, Secret } from '../../gen/kubernetes/types.ts';
import type { ApiObject } from '../../model/api-client.ts';
import {
  ApiObjects,
  askDespiteDenial,
  askedObjects,
  objectsAtOnce,
  watchedObjects,
  type PodTokens,
  type SingleWatch,
} from '../../objects/index.ts';
import type { PodObjects } from './pod-machine-deps.ts';

export interface ClusterObjectsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly heartbeats: Heartbeats;
  readonly log: Log;
  readonly api: HttpApiClient;
  /** configMapAndSecretChangeDetectionStrategy. */
  readonly strategy: string;
  /** This node's own object, which may say how old cached objects may be. */
  readonly node: () => Node | undefined;
  readonly signal: AbortSignal;
  readonly onChange: (uids: readonly PodUid[]) => void;
}

const ttlAnnotation = 'node.alpha.kubernetes.io/ttl';
const defaultTtlSeconds = 60;

/** The ConfigMaps and Secrets of pods, found by the strategy that is configured. */
export function wireApiObjects(deps: ClusterObjectsDeps): ApiObjects {
  const { clock, api, strategy, node, onChange } = deps;
  const maxAgeMs = (): number => (strategy === 'Get' ? 0 : ttlSecondsOf(node()) * 1_000);
  const places = new Limiter(objectsAtOnce);
  const keep =
    strategy === 'Watch'
      ? watchedObjects({ watch: (resource, ref, told) => watchOne(deps, places, resource, ref, told) })
      : askedObjects({ clock, api, maxAgeMs });
  return new ApiObjects({ clock, keep, onChange });
}

/** What pods name in the API server, as their syncs ask for it: all at once, tokens too. */
export function podObjects(cluster: {
  readonly objects: ApiObjects;
  readonly tokens: Pick<PodTokens, 'foresee'>;
}): PodObjects {
  const { objects, tokens } = cluster;
  return {
    ready: (pod, signal) => {
      tokens.foresee(pod, signal);
      return objects.ready(pod, signal);
    },
    configMap: (namespace, name) => objects.configMap(namespace, name),
    secret: (namespace, name) => objects.secret(namespace, name),
    problem: (kind, namespace, name) => objects.problem(kind, namespace, name),
    release: (uid) => objects.release(uid),
  };
}

export function ttlSecondsOf(node: Node | undefined): number {
  const seconds = Number(node?.metadata?.annotations?.[ttlAnnotation] ?? Number.NaN);
  return Number.isInteger(seconds) && seconds >= 0 ? seconds : defaultTtlSeconds;
}

function watchOne(
  { clock, random, log, heartbeats, api, signal }: ClusterObjectsDeps,
  places: Limiter,
  ...[resource, ref, onChange]: Parameters<Parameters<typeof watchedObjects>[0]['watch']>
): SingleWatch {
  const reflector = new Reflector<ConfigMap & Secret & ApiObject>({
    api: {
      // The first question may come before the API server knows that a pod here names the object.
      list: (kind, options) =>
        places.run(() => askDespiteDenial(clock, () => api.list(kind, options), options?.signal), options?.signal),
      watch: (kind, request) => api.watch(kind, request),
      reset: () => api.reset(),
    },
    clock,
    random,
    log,
    heartbeats,
    resource,
    ...(ref.namespace !== undefined && { namespace: ref.namespace }),
    fieldSelector: `metadata.name=${ref.name}`,
    transform: withoutManagedFields,
  });
  reflector.listen(onChange);
  void reflector.start(signal);
  return {
    synced: () => reflector.synced(),
    current: () => reflector.get(ref),
    lastError: () => reflector.lastError(),
    stop: () => void reflector.stop(),
  };
}
