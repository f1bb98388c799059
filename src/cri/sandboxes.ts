import {
  RuntimeServiceService as service,
  type ListPodSandboxRequest,
  type ListPodSandboxResponse,
  type PodSandboxStatusRequest,
  type PodSandboxStatusResponse,
  type RemovePodSandboxRequest,
  type RemovePodSandboxResponse,
  type RunPodSandboxRequest,
  type RunPodSandboxResponse,
  type StopPodSandboxRequest,
  type StopPodSandboxResponse,
  type UpdatePodSandboxResourcesRequest,
  type UpdatePodSandboxResourcesResponse,
} from '../gen/cri/api.ts';
import { sandboxStatusFlaw, textFlaw } from './answers.ts';
import { twice } from './deadline.ts';
import type { Binder, Call } from './invoke.ts';

/** Pod sandboxes. Stop and remove succeed when the sandbox is stopped or removed already. */
export interface SandboxCalls {
  readonly runPodSandbox: Call<RunPodSandboxRequest, RunPodSandboxResponse>;
  readonly stopPodSandbox: Call<StopPodSandboxRequest, StopPodSandboxResponse>;
  readonly removePodSandbox: Call<RemovePodSandboxRequest, RemovePodSandboxResponse>;
  readonly podSandboxStatus: Call<PodSandboxStatusRequest, PodSandboxStatusResponse>;
  readonly listPodSandbox: Call<ListPodSandboxRequest, ListPodSandboxResponse>;
  readonly updatePodSandboxResources: Call<UpdatePodSandboxResourcesRequest, UpdatePodSandboxResourcesResponse>;
}

export function sandboxCalls(bind: Binder): SandboxCalls {
  return {
    runPodSandbox: bind('runPodSandbox', service.runPodSandbox, {
      limitMs: twice,
      flaw: ({ podSandboxId }) => textFlaw('pod_sandbox_id', podSandboxId),
    }),
    stopPodSandbox: bind('stopPodSandbox', service.stopPodSandbox, { limitMs: twice, notFoundIs: {} }),
    removePodSandbox: bind('removePodSandbox', service.removePodSandbox, { notFoundIs: {} }),
    podSandboxStatus: bind('podSandboxStatus', service.podSandboxStatus, { flaw: sandboxStatusFlaw }),
    listPodSandbox: bind('listPodSandbox', service.listPodSandbox),
    updatePodSandboxResources: bind('updatePodSandboxResources', service.updatePodSandboxResources),
  };
}
