import type { Objects } from '../../objects/create-objects.ts';
import type { PodObjects } from '../../pods/create-parts.ts';
import type { ApiMirrors } from './api-mirrors.ts';

/** Objects that pods refer to: ConfigMaps, Secrets, and, with an API server, services and runtime classes. */
export function objectsOfPods(
  { podObjects }: Pick<Objects, 'podObjects'>,
  mirrors: ApiMirrors | undefined,
): PodObjects {
  return {
    lookup: {
      configMap: (namespace, name) => podObjects.configMap(namespace, name),
      secret: (namespace, name) => podObjects.secret(namespace, name),
      problem: (kind, namespace, name) => podObjects.problem(kind, namespace, name),
      services: mirrors ? servicesOf(mirrors) : () => [],
    },
    runtimeClasses: mirrors && { handlerOf: (name) => mirrors.runtimeClasses.get({ name })?.handler },
    ready: (pod, signal) => podObjects.ready(pod, signal),
  };
}

/** Undefined until the services have been listed once. */
function servicesOf({ services }: ApiMirrors): PodObjects['lookup']['services'] {
  return () => (services.synced() ? services.all() : undefined);
}
