import { Reflector, withoutManagedFields, type HttpApiClient } from '../../apiserver/index.ts';
import type { CSIDriver, Node, Pod, RuntimeClass, Service } from '../../gen/kubernetes/types.ts';
import type { ApiObject } from '../../model/api-client.ts';
import { apiResources, type ApiResource } from '../../model/api-resources.ts';
import type { CommonPorts } from '../../model/common-ports.ts';
import { podFields } from '../../model/pod-log.ts';
import { boundedPod, maxPodBytes } from '../../model/pod-size.ts';
import { boundedService } from '../../model/service-environment.ts';

/** The objects of the API server that every node mirrors. */
export interface ApiMirrors {
  readonly node: Reflector<Node>;
  /** The pods bound to this node. */
  readonly pods: Reflector<Pod>;
  readonly services: Reflector<Service>;
  readonly runtimeClasses: Reflector<RuntimeClass>;
  readonly drivers: Reflector<CSIDriver>;
}

export function createApiMirrors(ports: CommonPorts, api: HttpApiClient, nodeName: string): ApiMirrors {
  const reflect = <T extends ApiObject>(
    resource: ApiResource,
    fieldSelector?: string,
    bound: (object: T, previous: T | undefined) => T = (object) => object,
  ): Reflector<T> =>
    new Reflector<T>({
      ...ports,
      api,
      resource,
      ...(fieldSelector !== undefined && { fieldSelector }),
      transform: (object, previous) => bound(withoutManagedFields(object), previous),
    });
  const refused = ({ metadata = {} }: Pod): void =>
    ports.log.warn('An update that makes a pod too large is not taken', {
      ...podFields(metadata),
      maxBytes: maxPodBytes,
    });
  return {
    node: reflect<Node>(apiResources.nodes, `metadata.name=${nodeName}`),
    pods: reflect<Pod>(apiResources.pods, `spec.nodeName=${nodeName}`, (pod, previous) =>
      boundedPod(pod, previous, refused),
    ),
    services: reflect<Service>(apiResources.services, 'spec.clusterIP!=None', boundedService),
    runtimeClasses: reflect<RuntimeClass>(apiResources.runtimeClasses),
    drivers: reflect<CSIDriver>(apiResources.csiDrivers),
  };
}
