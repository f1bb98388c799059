import type { Calls } from '../base/calls.ts';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type {
  ApiClient,
  ApiList,
  ApiObject,
  DeleteRequest,
  ListRequest,
  ObjectRef,
  PatchRequest,
  PatchType,
  RequestOptions,
  CreateRequest,
} from '../model/api-client.ts';
import { apiResources, apiVersionOf, type ApiResource } from '../model/api-resources.ts';
import { podFields, type PodFields } from '../model/pod-log.ts';
import { isExpired } from './api-error.ts';
import { apiPath, describeRequest, type PathParts } from './api-path.ts';
import { ApiRequests, type ApiRequest, type RequestObserver } from './api-requests.ts';
import type { ApiTransport, ApiWatcher, Credentials, WatchEvent, WatchRequest } from './ports.ts';
import { LaneLimits, type RateLimits } from './rate-limit.ts';
import { watchEvents } from './watch-events.ts';

export interface HttpApiClientDeps {
  readonly transport: ApiTransport;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly log: Log;
  /** `kubelet/v1.34.1 (linux/amd64) kubernetes/abcdef0`. */
  readonly userAgent: string;
  /** kubeAPIQPS and kubeAPIBurst; eventRecordQPS and eventBurst. */
  readonly limits?: { readonly normal?: RateLimits; readonly events?: RateLimits };
  /** False if the kubeconfig has `disable-compression`. */
  readonly compression?: boolean;
  readonly seen?: RequestObserver;
  readonly calls?: Calls;
}

const defaultLimits: RateLimits = { qps: 50, burst: 100 };
const pageSize = 500;
const json = { 'content-type': 'application/json' };
const patchTypes: Readonly<Record<PatchType, string>> = {
  strategic: 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
};

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The API server by HTTP and JSON. */
export class HttpApiClient implements ApiClient, ApiWatcher {
  readonly #requests: ApiRequests;
  readonly #transport: ApiTransport;
  readonly #compression: boolean;

  constructor({ limits, compression, ...deps }: HttpApiClientDeps) {
    this.#transport = deps.transport;
    this.#compression = compression ?? true;
    this.#requests = new ApiRequests({
      ...deps,
      limits: new LaneLimits(deps.clock, {
        normal: limits?.normal ?? defaultLimits,
        events: limits?.events ?? defaultLimits,
      }),
    });
  }

  get<T extends ApiObject>(resource: ApiResource, ref: ObjectRef, options: RequestOptions = {}): Promise<T> {
    return this.#json<T>('GET', resource, { ...ref }, options);
  }

  async list<T extends ApiObject>(resource: ApiResource, options: ListRequest<T> = {}): Promise<ApiList<T>> {
    try {
      // A page of a named version is read from the store; a whole list not older than it comes from the server's
      // memory.
      const paged = ['', '0'].includes(options.resourceVersion ?? '');
      return await this.#pages<T>(resource, options, paged ? pageSize : undefined);
    } catch (error) {
      if (!isExpired(error)) throw error;
      // The version of the pages was compacted meanwhile: list everything at once, which cannot expire.
      return this.#pages<T>(resource, options, undefined);
    }
  }

  create<T extends ApiObject, R = T>(
    resource: ApiResource,
    namespace: string | undefined,
    object: T,
    options: CreateRequest = {},
  ): Promise<R> {
    const { of: name, subresource } = options;
    return this.#json<R>('POST', resource, { namespace, name, subresource }, options, json, object);
  }

  update<T extends ApiObject>(
    resource: ApiResource,
    ref: ObjectRef,
    object: T,
    options: RequestOptions & { readonly subresource?: string } = {},
  ): Promise<T> {
    return this.#json<T>('PUT', resource, { ...ref, subresource: options.subresource }, options, json, object);
  }

  patch<T extends ApiObject>(resource: ApiResource, ref: ObjectRef, patch: unknown, options: PatchRequest): Promise<T> {
    const headers = { 'content-type': patchTypes[options.type] };
    return this.#json<T>('PATCH', resource, { ...ref, subresource: options.subresource }, options, headers, patch);
  }

  async delete(resource: ApiResource, ref: ObjectRef, options: DeleteRequest = {}): Promise<void> {
    const { gracePeriodSeconds, uid, resourceVersion } = options;
    const preconditions = {
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    };
    const body = {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
      ...(Object.keys(preconditions).length > 0 && { preconditions }),
    };
    await this.#requests.text(requestOf('DELETE', resource, { ...ref }, options, json, body));
  }

  async watch<T extends ApiObject>(
    resource: ApiResource,
    { namespace, signal, ...query }: WatchRequest,
  ): Promise<AsyncIterable<readonly WatchEvent<T>[]>> {
    const parts = { namespace, query: { ...query, watch: 1, allowWatchBookmarks: true } };
    const answer = await this.#requests.stream({ ...requestOf('GET', resource, parts, {}), signal });
    return watchEvents<T>(answer.body);
  }

  reset(): void {
    this.#transport.reset();
  }

  async #pages<T extends ApiObject>(
    resource: ApiResource,
    { namespace, fieldSelector, labelSelector, resourceVersion, keep, ...options }: ListRequest<T>,
    limit: number | undefined,
  ): Promise<ApiList<T>> {
    const items: T[] = [];
    const take = (item: unknown): void => {
      const whole = withKind(item as T, resource);
      items.push(keep === undefined ? whole : keep(whole));
    };
    let from: string | undefined;
    for (;;) {
      // Later pages are of the first page's version; the server refuses a version besides `continue`.
      const at = from === undefined ? versionQuery(resourceVersion) : {};
      const query = { fieldSelector, labelSelector, limit, continue: from, ...at };
      const headers = this.#compression ? { 'accept-encoding': 'gzip' } : {};
      const request = requestOf('GET', resource, { namespace, query }, options, headers);
      const page = (await this.#requests.list(request, take)) as Partial<ApiList<T>> | null;
      if (typeof page !== 'object' || page === null || typeof page.metadata !== 'object') {
        throw new TubeletError('unavailable', `${request.what}: the answer is not a list`);
      }
      from = page.metadata.continue;
      if (from === undefined || from === '') return { metadata: page.metadata, items };
    }
  }

  async #json<R>(
    method: ApiRequest['method'],
    resource: ApiResource,
    parts: PathParts,
    options: RequestOptions,
    headers: Readonly<Record<string, string>> = {},
    body?: unknown,
  ): Promise<R> {
    const request = requestOf(method, resource, parts, options, headers, body);
    const text = await this.#requests.text(request);
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null) return value as R;
    } catch {
      // Reported below, without the parser's message: it quotes the text, which may be a Secret.
    }
    throw new TubeletError('unavailable', `${request.what}: the answer is not a JSON object`);
  }
}

function requestOf(
  method: ApiRequest['method'],
  resource: ApiResource,
  parts: PathParts,
  { lane, signal, timeoutMs }: RequestOptions,
  headers: Readonly<Record<string, string>> = {},
  body?: unknown,
): ApiRequest {
  return {
    method,
    path: apiPath(resource, parts),
    what: describeRequest(method, resource, parts),
    about: resource.plural === apiResources.pods.plural ? podOf(parts, body) : {},
    lane: lane ?? 'normal',
    headers,
    signal,
    timeoutMs,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
}

/** The pod that is read, written or deleted; only a body contains its uid. */
function podOf({ namespace, name }: PathParts, body: unknown): PodFields {
  const { metadata, preconditions } = Object(body) as Partial<ApiObject> & {
    readonly preconditions?: { uid?: string };
  };
  return podFields({ namespace, name: name ?? metadata?.name, uid: preconditions?.uid ?? metadata?.uid });
}

/** Without the match a version together with a limit would mean exactly that version. */
function versionQuery(resourceVersion: string | undefined): Readonly<Record<string, string>> {
  if (resourceVersion === undefined || resourceVersion === '') return {};
  return { resourceVersion, resourceVersionMatch: 'NotOlderThan' };
}

/** Within a list the server leaves out kind and apiVersion; adds them, so that items equal single objects. */
function withKind<T extends ApiObject>(item: T, resource: ApiResource): T {
  const filled: Mutable<ApiObject> = item;
  filled.apiVersion ??= apiVersionOf(resource);
  filled.kind ??= resource.kind;
  return item;
}
