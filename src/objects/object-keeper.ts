import type { Clock } from '../base/clock.ts';
import { Limiter } from '../base/limiter.ts';
import type { ConfigMap, Secret } from '../gen/kubernetes/types.ts';
import type { ApiObject } from '../model/api-client.ts';
import { retryOnForbidden } from './retry-on-forbidden.ts';
import { askedObjects, objectsAtOnce } from './asked-objects.ts';
import { maxObjectAgeMs } from './object-age.ts';
import type { ObjectKeeper, ObjectsApi } from './ports.ts';
import { watchedObjects } from './watched-objects.ts';

/** How ConfigMaps and Secrets of pods are kept at hand, by configMapAndSecretChangeDetectionStrategy. */
export function objectKeeper(
  { clock }: { readonly clock: Clock },
  strategy: string,
  { client, reflect, node }: ObjectsApi,
): ObjectKeeper {
  if (strategy !== 'Watch') {
    return askedObjects({ clock, api: client, maxAgeMs: () => maxObjectAgeMs(strategy, node.node()) });
  }
  const places = new Limiter(objectsAtOnce);
  return watchedObjects({
    watch: (resource, ref, onChange) => {
      const mirror = reflect<ConfigMap & Secret & ApiObject>(resource, {
        ...(ref.namespace !== undefined && { namespace: ref.namespace }),
        fieldSelector: `metadata.name=${ref.name}`,
        onChange,
        // The first question may come before the API server knows that a pod here names the object.
        listing: (list, signal) => places.run(() => retryOnForbidden(clock, list, signal), signal),
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
