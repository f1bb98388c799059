import { Reflector, withoutManagedFields, type HttpApiClient } from '../../apiserver/index.ts';
import type { ApiObject } from '../../model/api-client.ts';
import type { ApiResource } from '../../model/api-resources.ts';
import type { CommonPorts } from '../../model/common-ports.ts';
import type { Reflect, ReflectOptions, RunningMirror } from '../../objects/index.ts';

interface ReflectWiring extends Pick<CommonPorts, 'clock' | 'random' | 'log' | 'heartbeats'> {
  readonly api: HttpApiClient;
  /** The life of the agent: no mirror outlives it. */
  readonly signal: AbortSignal;
}

/** Mirrors that start when an object is first wanted, and end when no pod wants it any more. */
export function reflectOn({ api, signal, ...ports }: ReflectWiring): Reflect {
  return <T extends ApiObject>(
    resource: ApiResource,
    { onChange, listing = (list) => list(), ...selector }: ReflectOptions<T>,
  ): RunningMirror<T> => {
    const reflector = new Reflector<T>({
      api: {
        list: (kind, options) => listing(() => api.list(kind, options), options?.signal),
        watch: (kind, request) => api.watch(kind, request),
        reset: () => api.reset(),
      },
      ...ports,
      resource,
      ...selector,
      transform: withoutManagedFields,
    });
    reflector.listen(onChange);
    void reflector.start(signal);
    return {
      synced: () => reflector.synced(),
      get: (ref) => reflector.get(ref),
      all: () => reflector.all(),
      lastError: () => reflector.lastError(),
      stop: () => void reflector.stop(),
    };
  };
}
