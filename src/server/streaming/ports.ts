import type { CallOptions } from '../../base/call.ts';
import type { PodUid } from '../../base/ids.ts';
import type {
  AttachRequest,
  AttachResponse,
  CheckpointContainerRequest,
  CheckpointContainerResponse,
  ExecRequest,
  ExecResponse,
  ExecSyncRequest,
  ExecSyncResponse,
  PortForwardRequest,
  PortForwardResponse,
} from '../../gen/cri/api.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';

/** The pods that sessions may go to. */
export interface StreamingPods {
  /** The pod that the sources want under this name. A static pod is found by the name that its mirror has too. */
  pod(
    namespace: string,
    name: string,
  ): Pick<DesiredPod, 'uid' | 'name' | 'namespace' | 'fullName' | 'spec'> | undefined;
  /** What the runtime has of a pod: what is known, unless it is known to be out of date. */
  observed(uid: PodUid, signal: AbortSignal): Promise<ObservedPod>;
  /** The same, asked of the runtime now. */
  inspect(uid: PodUid, signal: AbortSignal): Promise<ObservedPod>;
}

export type StreamingPod = NonNullable<ReturnType<StreamingPods['pod']>>;

/** The verbs of the runtime that sessions need. */
export interface StreamingRuntime {
  exec(request: ExecRequest, options?: CallOptions): Promise<ExecResponse>;
  attach(request: AttachRequest, options?: CallOptions): Promise<AttachResponse>;
  portForward(request: PortForwardRequest, options?: CallOptions): Promise<PortForwardResponse>;
  execSync(request: ExecSyncRequest, options?: CallOptions): Promise<ExecSyncResponse>;
  checkpointContainer(request: CheckpointContainerRequest, options?: CallOptions): Promise<CheckpointContainerResponse>;
}

export interface CheckpointFolders {
  /** Makes a folder and those above it; one that is there gets the mode. */
  makeFolder(path: string, mode: number): Promise<void>;
}
