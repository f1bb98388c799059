import type { ConfigMap, Secret } from '../gen/kubernetes/types.ts';
import type { ApiResource } from '../model/api-resources.ts';
import type { ObjectRef } from '../model/api-client.ts';
import { contentBytes, resourceOf } from './asked-objects.ts';
import type { KeptObject, ObjectKeeper } from './ports.ts';

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
 * The strategy `Watch`: each object is watched for as long as a pod names it. One that says it never changes is watched
 * until it is seen.
 */
export function watchedObjects({ watch }: WatchedObjectsDeps): ObjectKeeper {
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
    const kept: KeptObject = {
      known: () => frozen !== undefined || watching.synced(),
      current: () => frozen ?? watching.current(),
      lastError: () => watching.lastError(),
      refresh: () => Promise.resolve(),
      release: () => {
        released = true;
        watching.stop();
      },
    };
    return kept;
  };
}
