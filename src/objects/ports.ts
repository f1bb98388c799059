import type { PodUid } from '../base/ids.ts';
import type { ConfigMap, Node, PodSpec, Secret } from '../gen/kubernetes/types.ts';
import type { ApiClient, ApiObject, Mirror, MirrorChange } from '../model/api-client.ts';
import type { ApiResource } from '../model/api-resources.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { DataObjectKind, DataObjectReference } from '../model/standalone-object.ts';

/** The parts of a pod that determine which objects it uses. */
export interface ReferringPod {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly spec: PodSpec;
}

/** One object of the API server, cached. */
export interface CachedObject {
  /** Whether the API server has answered: then an object that is not here does not exist. */
  known(): boolean;
  current(): (ConfigMap & Secret) | undefined;
  lastError(): string | undefined;
  /** Reads the object again where the strategy requires it before use; never rejects. */
  refresh(signal: AbortSignal): Promise<void>;
  release(): void;
}

/** Begins to cache one object. Calls `onContent` with its size after each read, before `onChange`; that may release it. */
export type ObjectCache = (
  reference: DataObjectReference,
  onChange: () => void,
  onContent: (bytes: number) => void,
) => CachedObject;

/** Wakes pods: something that they use was created, changed or deleted. */
export interface ResourceInbox {
  resourcesChanged(uids: readonly PodUid[]): void;
}

/** ConfigMaps and Secrets as pods see them. */
export interface PodObjects {
  /** Caches what the pod names from now on, and waits a moment for it. Called before anything of the pod is set up. */
  ready(pod: DesiredPod, signal: AbortSignal): Promise<void>;
  configMap(namespace: string, name: string): ConfigMap | undefined;
  /** With its values in `data`, in base64. */
  secret(namespace: string, name: string): Secret | undefined;
  /** Why an object that is not cached may exist all the same. */
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
  /** Wraps each list request. */
  readonly listing?: <R>(list: () => Promise<R>, signal: AbortSignal | undefined) => Promise<R>;
}

/** Begins to keep a mirror of one kind, without managed fields; it need not be there before the API server is. */
export type Reflect = <T extends ApiObject>(resource: ApiResource, options: ReflectOptions<T>) => RunningMirror<T>;

/** The API server that objects come from. */
export interface ObjectsApi {
  readonly client: Pick<ApiClient, 'get' | 'list' | 'create'>;
  readonly reflect: Reflect;
  /** This node's own object, whose annotation may limit the age of cached objects. */
  readonly node: { node(): Node | undefined };
}
