import type { Clock } from '../base/clock.ts';
import { isKind, messageOf } from '../base/errors.ts';
import { Limiter } from '../base/limiter.ts';
import type { ConfigMap, Secret } from '../gen/kubernetes/types.ts';
import type { ApiReader } from '../model/api-client.ts';
import { apiResources } from '../model/api-resources.ts';
import { sizeOf } from '../model/pod-size.ts';
import type { DataObjectReference } from '../model/standalone-object.ts';
import type { CachedObject, ObjectCache } from './ports.ts';

interface CachedObjectsDeps {
  readonly clock: Clock;
  readonly api: Pick<ApiReader, 'get'>;
  /** How old a cached object may be, in milliseconds; 0 reads each time. */
  readonly maxAgeMs: () => number;
}

/** Bounds the memory of responses in flight, whose size is not known before. */
export const maxConcurrentReads = 32;

/** The strategies `Cache` and `Get`: reads an object when a pod is about to use it, unless the cached one is young enough. */
export function cachedObjects({ clock, api, maxAgeMs }: CachedObjectsDeps): ObjectCache {
  const limiter = new Limiter(maxConcurrentReads);
  return (reference, onChange, onContent) => {
    let released = false;
    let current: (ConfigMap & Secret) | undefined;
    let answeredAt: number | undefined;
    let error: string | undefined;
    let asking: Promise<void> | undefined;
    const take = (next: (ConfigMap & Secret) | undefined): void => {
      if (released) return;
      onContent(contentBytes(next));
      if (released) return;
      const changed = next?.metadata?.resourceVersion !== current?.metadata?.resourceVersion;
      const first = answeredAt === undefined;
      current = next;
      answeredAt = clock.monotonic();
      error = undefined;
      // The caller waits for the first answer, so that it is no change.
      if (changed && !first) onChange();
    };
    const getUnlessReleased = async (signal: AbortSignal): Promise<(ConfigMap & Secret) | undefined> =>
      released ? undefined : api.get<ConfigMap & Secret>(resourceOf(reference), reference, { signal });
    const ask = async (signal: AbortSignal): Promise<void> => {
      try {
        take(await limiter.run(() => getUnlessReleased(signal), signal));
      } catch (failure) {
        if (isKind(failure, 'notFound')) take(undefined);
        else error = messageOf(failure);
      }
    };
    const refresh = (signal: AbortSignal): Promise<void> => {
      if (answeredAt !== undefined) {
        const young = clock.monotonic() - answeredAt < maxAgeMs();
        if (young || current?.immutable === true) return Promise.resolve();
      }
      asking ??= ask(signal).finally(() => (asking = undefined));
      return asking;
    };
    const cached: CachedObject = {
      known: () => answeredAt !== undefined,
      current: () => current,
      lastError: () => error,
      refresh,
      release: () => {
        released = true;
      },
    };
    return cached;
  };
}

/** Texts of an object, as they are cached: a Secret's in base64. */
export function contentBytes(object: (ConfigMap & Secret) | undefined): number {
  return object === undefined ? 0 : sizeOf(object, Number.POSITIVE_INFINITY);
}

export function resourceOf({ kind }: DataObjectReference): (typeof apiResources)['configMaps' | 'secrets'] {
  return kind === 'ConfigMap' ? apiResources.configMaps : apiResources.secrets;
}
