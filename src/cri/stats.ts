import {
  RuntimeServiceService as service,
  type ContainerStatsRequest,
  type ContainerStatsResponse,
  type ListContainerStatsRequest,
  type ListContainerStatsResponse,
  type ListMetricDescriptorsRequest,
  type ListMetricDescriptorsResponse,
  type ListPodSandboxMetricsRequest,
  type ListPodSandboxMetricsResponse,
  type ListPodSandboxStatsRequest,
  type ListPodSandboxStatsResponse,
  type PodSandboxStatsRequest,
  type PodSandboxStatsResponse,
} from '../gen/cri/api.ts';
import type { Binder, Call } from './invoke.ts';

/** Usage of sandboxes and containers. */
export interface StatsCalls {
  readonly containerStats: Call<ContainerStatsRequest, ContainerStatsResponse>;
  readonly listContainerStats: Call<ListContainerStatsRequest, ListContainerStatsResponse>;
  readonly podSandboxStats: Call<PodSandboxStatsRequest, PodSandboxStatsResponse>;
  readonly listPodSandboxStats: Call<ListPodSandboxStatsRequest, ListPodSandboxStatsResponse>;
  readonly listMetricDescriptors: Call<ListMetricDescriptorsRequest, ListMetricDescriptorsResponse>;
  readonly listPodSandboxMetrics: Call<ListPodSandboxMetricsRequest, ListPodSandboxMetricsResponse>;
}

export function statsCalls(bind: Binder): StatsCalls {
  return {
    containerStats: bind('containerStats', service.containerStats),
    listContainerStats: bind('listContainerStats', service.listContainerStats),
    podSandboxStats: bind('podSandboxStats', service.podSandboxStats),
    listPodSandboxStats: bind('listPodSandboxStats', service.listPodSandboxStats),
    listMetricDescriptors: bind('listMetricDescriptors', service.listMetricDescriptors),
    listPodSandboxMetrics: bind('listPodSandboxMetrics', service.listPodSandboxMetrics),
  };
}
