import type { PodUid } from '../base/ids.ts';
import type { ConfigMap, Node, PodSpec, Secret } from '../gen/kubernetes/types.ts';
import type { ApiClient, ApiObject, Mirror, MirrorChange } from '../model/api-client.ts';
import type { ApiResource } from '../model/api-resources.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { DataObjectKind, DataObjectReference } from '../model/standalone-object.ts';

/** What of a pod tells which objects it uses. */
export interface ReferringPod {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly spec: PodSpec;
}

/** One object of the API server, kept at hand. */
export interface KeptObject {
  /** Whether the server has been heard: then an object that is not here does not exist. */
  known(): boolean;
  current(): (ConfigMap & Secret) | undefined;
  lastError(): string | undefined;
  /** Asks again where the strategy wants it before use; never rejects. */
  refresh(signal: AbortSignal): Promise<void>;
  release(): void;
}

/** `onContent` is told how much there is in an object whenever it came, before anything else is. It may release it. */
export type ObjectKeeper = (
  reference: DataObjectReference,
  onChange: () => void,
  onContent: (bytes: number) => void,
) => KeptObject;

/** Wakes pods: something that they use came, changed or went. */
export interface ResourceInbox {
  resourcesChanged(uids: readonly PodUid[]): void;
}

/** ConfigMaps and Secrets as pods are presented with them. */
export interface PodObjects {
  /** What the pod names is kept at hand from now on, as far as it comes soon. Before anything of the pod is made. */
  ready(pod: DesiredPod, signal: AbortSignal): Promise<void>;
  configMap(namespace: string, name: string): ConfigMap | undefined;
  /** With its values in `data`, in base64. */
  secret(namespace: string, name: string): Secret | undefined;
  /** Why an object that is not there may exist all the same. */
  problem(kind: DataObjectKind, namespace: string, name: string): string | undefined;
}

/** A mirror that runs until it is stopped. */
export interface RunningMirror<T extends ApiObject> extends Mirror<T> {
  /** Why the last list or watch failed, until one succeeds. */
  lastError(): string | undefined;
  stop(): void;
}

export interface ReflectOptions<T extends ApiObject> {
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly onChange: (change: MirrorChange<T>) => void;
  /** Each list is asked for through this. */
  readonly listing?: <R>(list: () => Promise<R>, signal: AbortSignal | undefined) => Promise<R>;
}

/** Begins to keep a mirror of one kind, without managed fields; it need not be there before the API server is. */
export type Reflect = <T extends ApiObject>(resource: ApiResource, options: ReflectOptions<T>) => RunningMirror<T>;

/** The API server that objects come from. */
export interface ObjectsApi {
  readonly client: Pick<ApiClient, 'get' | 'list' | 'create'>;
  readonly reflect: Reflect;
  /** This node's own object, which may say how old cached objects may be. */
  readonly node: { node(): Node | undefined };
}
