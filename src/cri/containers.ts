import {
  RuntimeServiceService as service,
  type CheckpointContainerRequest,
  type CheckpointContainerResponse,
  type ContainerStatusRequest,
  type ContainerStatusResponse,
  type CreateContainerRequest,
  type CreateContainerResponse,
  type ListContainersRequest,
  type ListContainersResponse,
  type RemoveContainerRequest,
  type RemoveContainerResponse,
  type ReopenContainerLogRequest,
  type ReopenContainerLogResponse,
  type StartContainerRequest,
  type StartContainerResponse,
  type StopContainerRequest,
  type StopContainerResponse,
  type UpdateContainerResourcesRequest,
  type UpdateContainerResourcesResponse,
} from '../gen/cri/api.ts';
import { containerStatusFlaw, textFlaw } from './answers.ts';
import { onTopOfSeconds } from './deadline.ts';
import type { Binder, Call } from './invoke.ts';

/** Containers. Stop and remove succeed when the container is stopped or removed already. */
export interface ContainerCalls {
  readonly createContainer: Call<CreateContainerRequest, CreateContainerResponse>;
  readonly startContainer: Call<StartContainerRequest, StartContainerResponse>;
  readonly stopContainer: Call<StopContainerRequest, StopContainerResponse>;
  readonly removeContainer: Call<RemoveContainerRequest, RemoveContainerResponse>;
  readonly listContainers: Call<ListContainersRequest, ListContainersResponse>;
  readonly containerStatus: Call<ContainerStatusRequest, ContainerStatusResponse>;
  readonly updateContainerResources: Call<UpdateContainerResourcesRequest, UpdateContainerResourcesResponse>;
  readonly reopenContainerLog: Call<ReopenContainerLogRequest, ReopenContainerLogResponse>;
  readonly checkpointContainer: Call<CheckpointContainerRequest, CheckpointContainerResponse>;
}

export function containerCalls(bind: Binder): ContainerCalls {
  return {
    createContainer: bind('createContainer', service.createContainer, {
      flaw: ({ containerId }) => textFlaw('container_id', containerId),
    }),
    startContainer: bind('startContainer', service.startContainer),
    stopContainer: bind('stopContainer', service.stopContainer, {
      limitMs: ({ timeout }, requestMs) => onTopOfSeconds(timeout, requestMs),
      notFoundIs: {},
    }),
    removeContainer: bind('removeContainer', service.removeContainer, { notFoundIs: {} }),
    listContainers: bind('listContainers', service.listContainers),
    containerStatus: bind('containerStatus', service.containerStatus, { flaw: containerStatusFlaw }),
    updateContainerResources: bind('updateContainerResources', service.updateContainerResources),
    reopenContainerLog: bind('reopenContainerLog', service.reopenContainerLog),
    checkpointContainer: bind('checkpointContainer', service.checkpointContainer, {
      limitMs: ({ timeout }, requestMs) => Math.max(Number(timeout) * 1_000, requestMs),
    }),
  };
}
