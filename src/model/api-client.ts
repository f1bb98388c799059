import type { Component } from '../base/component.ts';
import type { ListMeta, ObjectMeta } from '../gen/kubernetes/types.ts';
import type { ApiResource } from './api-resources.ts';

/** What every object of the API has. */
export interface ApiObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: ObjectMeta;
}

/** One object's place; `namespace` only where its kind has one. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

/** Which way a request goes when the budget is short: the first never waits behind the others. */
export type Lane = 'vital' | 'normal' | 'events';

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** Default: `normal`. `vital`: lease, node readiness. */
  readonly lane?: Lane;
  /** The whole request, retries included. The client has its own limit otherwise. */
  readonly timeoutMs?: number;
}

export type PatchType = 'strategic' | 'merge' | 'json';

export interface PatchRequest extends RequestOptions {
  readonly type: PatchType;
  readonly subresource?: string;
}

export interface DeleteRequest extends RequestOptions {
  readonly gracePeriodSeconds?: number;
  /** Only that very object, not one of the same name. */
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface ListRequest<T = ApiObject> extends RequestOptions {
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** `0`: any version the server has at hand. */
  readonly resourceVersion?: string;
  /** Returns what to keep of an item. Called as soon as the item is read, so that the rest does not pile up in memory. */
  readonly keep?: (item: T) => T;
}

export interface ApiList<T> {
  readonly metadata: ListMeta;
  readonly items: readonly T[];
}

/**
 * Requests to the API server. Failures are TubeletErrors: `notFound`, `alreadyExists`, `conflict`, `denied` (401, 403),
 * `invalid` (400, 422), `exhausted` (429), `unavailable`, `timeout`, `cancelled`; `remoteMessage` is the server's message.
 */
export interface ApiReader {
  get<T extends ApiObject>(resource: ApiResource, ref: ObjectRef, options?: RequestOptions): Promise<T>;
  /** The whole list, page by page. */
  list<T extends ApiObject>(resource: ApiResource, options?: ListRequest<T>): Promise<ApiList<T>>;
}

/** `of`: the object that a subresource is made of, such as the service account of a token. */
export interface CreateRequest extends RequestOptions {
  readonly of?: string;
  readonly subresource?: string;
}

export interface ApiWriter {
  create<T extends ApiObject, R = T>(
    resource: ApiResource,
    namespace: string | undefined,
    object: T,
    options?: CreateRequest,
  ): Promise<R>;
  update<T extends ApiObject>(
    resource: ApiResource,
    ref: ObjectRef,
    object: T,
    options?: RequestOptions & { readonly subresource?: string },
  ): Promise<T>;
  patch<T extends ApiObject>(resource: ApiResource, ref: ObjectRef, patch: unknown, options: PatchRequest): Promise<T>;
  delete(resource: ApiResource, ref: ObjectRef, options?: DeleteRequest): Promise<void>;
}

export type ApiClient = ApiReader & ApiWriter;

/** What a reflector knows of one kind (within its selector), kept current by list and watch. */
export interface Mirror<T extends ApiObject> {
  /** True once a full list has arrived; the objects stay known when the server is unreachable later. */
  synced(): boolean;
  get(ref: ObjectRef): T | undefined;
  all(): readonly T[];
}

/** A change of what a mirror holds. `replaced`: a list arrived, so read all of it; it comes first, even when empty. */
export type MirrorChange<T extends ApiObject> =
  | { readonly type: 'replaced' }
  | { readonly type: 'put'; readonly object: T; readonly previous: T | undefined }
  | { readonly type: 'removed'; readonly object: T };

/** A mirror that is kept current from its start on, and reports every change. */
export interface WatchedMirror<T extends ApiObject> extends Mirror<T>, Component {
  listen(listener: (change: MirrorChange<T>) => void): void;
}
