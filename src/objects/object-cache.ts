import type { Clock } from '../base/clock.ts';
import { Limiter } from '../base/limiter.ts';
import type { ConfigMap, Secret } from '../gen/kubernetes/types.ts';
import type { ApiObject } from '../model/api-client.ts';
import { retryOnForbidden } from './retry-on-forbidden.ts';
import { cachedObjects, maxConcurrentReads } from './cached-objects.ts';
import { maxObjectAgeMs } from './object-age.ts';
import type { ObjectCache, ObjectsApi } from './ports.ts';
import { watchedObjects } from './watched-objects.ts';

/** How the agent caches ConfigMaps and Secrets of pods, by configMapAndSecretChangeDetectionStrategy. */
export function objectCache(
  { clock }: { readonly clock: Clock },
  strategy: string,
  { client, reflect, node }: ObjectsApi,
): ObjectCache {
  if (strategy !== 'Watch') {
    return cachedObjects({ clock, api: client, maxAgeMs: () => maxObjectAgeMs(strategy, node.node()) });
  }
  const limiter = new Limiter(maxConcurrentReads);
  return watchedObjects({
    watch: (resource, ref, onChange) => {
      const mirror = reflect<ConfigMap & Secret & ApiObject>(resource, {
        ...(ref.namespace !== undefined && { namespace: ref.namespace }),
        fieldSelector: `metadata.name=${ref.name}`,
        onChange,
        // The first list may come before the node authorizer knows that a pod here names the object.
        listing: (list, signal) => limiter.run(() => retryOnForbidden(clock, list, signal), signal),
      });
      return {
        synced: () => mirror.synced(),
        current: () => mirror.get(ref),
        lastError: () => mirror.lastError(),
        stop: () => mirror.stop(),
      };
    },
  });
}
