import type { Clock } from '../base/clock.ts';
import { isKind, messageOf } from '../base/errors.ts';
import { Limiter } from '../base/limiter.ts';
import type { ConfigMap, Secret } from '../gen/kubernetes/types.ts';
import type { ApiReader } from '../model/api-client.ts';
import { apiResources } from '../model/api-resources.ts';
import { sizeOf } from '../model/pod-size.ts';
import type { DataObjectReference } from '../model/standalone-object.ts';
import type { KeptObject, ObjectKeeper } from './ports.ts';

interface AskedObjectsDeps {
  readonly clock: Clock;
  readonly api: Pick<ApiReader, 'get'>;
  /** How old an answer may be, in milliseconds; 0 asks each time. */
  readonly maxAgeMs: () => number;
}

/** Answers on their way take memory too, before anybody knows how much. */
export const objectsAtOnce = 32;

/** The strategies `Cache` and `Get`: an object is asked for when a pod is about to use it, unless it is young enough. */
export function askedObjects({ clock, api, maxAgeMs }: AskedObjectsDeps): ObjectKeeper {
  const places = new Limiter(objectsAtOnce);
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
      // The first answer is what the asker waits for, and no news to it.
      if (changed && !first) onChange();
    };
    const getUnlessReleased = async (signal: AbortSignal): Promise<(ConfigMap & Secret) | undefined> =>
      released ? undefined : api.get<ConfigMap & Secret>(resourceOf(reference), reference, { signal });
    const ask = async (signal: AbortSignal): Promise<void> => {
      try {
        take(await places.run(() => getUnlessReleased(signal), signal));
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
    const kept: KeptObject = {
      known: () => answeredAt !== undefined,
      current: () => current,
      lastError: () => error,
      refresh,
      release: () => {
        released = true;
      },
    };
    return kept;
  };
}

/** Texts of an object, as they are kept: a Secret's in base64. */
export function contentBytes(object: (ConfigMap & Secret) | undefined): number {
  return object === undefined ? 0 : sizeOf(object, Number.POSITIVE_INFINITY);
}

export function resourceOf({ kind }: DataObjectReference): (typeof apiResources)['configMaps' | 'secrets'] {
  return kind === 'ConfigMap' ? apiResources.configMaps : apiResources.secrets;
}
