import {
  RuntimeServiceService as service,
  type RuntimeConfigRequest,
  type RuntimeConfigResponse,
  type StatusRequest,
  type StatusResponse,
  type UpdateRuntimeConfigRequest,
  type UpdateRuntimeConfigResponse,
  type VersionRequest,
  type VersionResponse,
} from '../gen/cri/api.ts';
import { versionFlaw } from './answers.ts';
import type { Binder, Call } from './invoke.ts';

/** The runtime as a whole. */
export interface RuntimeCalls {
  readonly version: Call<VersionRequest, VersionResponse>;
  readonly status: Call<StatusRequest, StatusResponse>;
  /** Passes the agent's decisions to the runtime (the pod network). */
  readonly updateRuntimeConfig: Call<UpdateRuntimeConfigRequest, UpdateRuntimeConfigResponse>;
  /** Reads the runtime's decisions (the cgroup driver). */
  readonly runtimeConfig: Call<RuntimeConfigRequest, RuntimeConfigResponse>;
}

export function runtimeCalls(bind: Binder): RuntimeCalls {
  return {
    version: bind('version', service.version, { flaw: versionFlaw }),
    status: bind('status', service.status, {
      flaw: ({ status }) =>
        (status?.conditions.length ?? 0) < 2 ? 'RuntimeReady or NetworkReady is missing' : undefined,
    }),
    updateRuntimeConfig: bind('updateRuntimeConfig', service.updateRuntimeConfig),
    runtimeConfig: bind('runtimeConfig', service.runtimeConfig),
  };
}
