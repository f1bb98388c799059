import type { Metrics } from '../../base/metrics.ts';

export type PodResourcesMethod = 'list' | 'get_allocatable' | 'get';
export type ApiVersion = 'v1' | 'v1alpha1';

export interface PodResourcesMetrics {
  asked(method: PodResourcesMethod, version: ApiVersion): void;
  failed(method: PodResourcesMethod, version: ApiVersion): void;
}

/** How often clients ask which pod holds what. */
export function podResourcesMetrics(metrics: Metrics): PodResourcesMetrics {
  const counter = (name: string, help: string) =>
    metrics.counter({
      name: `kubelet_pod_resources_endpoint_${name}`,
      help,
      stability: 'ALPHA',
      labels: ['server_api_version'],
    });
  const total = counter('requests_total', 'Questions to the pod resources service.');
  const asked = {
    list: counter('requests_list', 'Questions for the resources of all pods.'),
    get_allocatable: counter('requests_get_allocatable', 'Questions for what can be given away.'),
    get: counter('requests_get', 'Questions for the resources of one pod.'),
  };
  const failed = {
    list: counter('errors_list', 'Questions for the resources of all pods that failed.'),
    get_allocatable: counter('errors_get_allocatable', 'Questions for what can be given away that failed.'),
    get: counter('errors_get', 'Questions for the resources of one pod that failed.'),
  };
  return {
    asked(method, server_api_version) {
      total.inc({ server_api_version });
      asked[method].inc({ server_api_version });
    },
    failed: (method, server_api_version) => failed[method].inc({ server_api_version }),
  };
}
