import type { ConfigMap, Secret } from '../gen/kubernetes/types.ts';
import type { ApiResource } from '../model/api-resources.ts';
import type { ObjectRef } from '../model/api-client.ts';
import { contentBytes, resourceOf } from './cached-objects.ts';
import type { CachedObject, ObjectCache } from './ports.ts';

/** A watch of one object. */
interface SingleWatch {
  synced(): boolean;
  current(): (ConfigMap & Secret) | undefined;
  lastError(): string | undefined;
  stop(): void;
}

interface WatchedObjectsDeps {
  readonly watch: (resource: ApiResource, ref: ObjectRef, onChange: () => void) => SingleWatch;
}

/**
 * The strategy `Watch`: watches each object for as long as a pod names it, and an immutable one until it has been read.
 */
export function watchedObjects({ watch }: WatchedObjectsDeps): ObjectCache {
  return (reference, onChange, onContent) => {
    let released = false;
    let frozen: (ConfigMap & Secret) | undefined;
    const watching: SingleWatch = watch(resourceOf(reference), reference, () => {
      const current = watching.current();
      onContent(contentBytes(current));
      if (released) return;
      if (current?.immutable === true && frozen === undefined) {
        frozen = current;
        watching.stop();
      }
      onChange();
    });
    const cached: CachedObject = {
      known: () => frozen !== undefined || watching.synced(),
      current: () => frozen ?? watching.current(),
      lastError: () => watching.lastError(),
      refresh: () => Promise.resolve(),
      release: () => {
        released = true;
        watching.stop();
      },
    };
    return cached;
  };
}
