import assert from 'node:assert/strict';
import { ApiError, HttpApiClient } from '../../apiserver/index.ts';
import type { TransportRequest } from '../../apiserver/index.ts';
import { readBody } from '../../apiserver/read-body.ts';
import { isKind, type ErrorKind } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';
import { systemClock } from '../../base/system-clock.ts';
import type { ConfigMap, Node, Pod, PodSpec } from '../../gen/kubernetes/types.ts';
import type { ApiObject } from '../../model/api-client.ts';
import { apiResources, type ApiResource } from '../../model/api-resources.ts';
import { namespaces } from '../fake-api-server/index.ts';
import type { ApiSubject } from './subject.ts';
import { WatchTap, type TapRequest } from './watch-tap.ts';

export const clock = systemClock();
const patienceMs = 30_000;
const lookMs = 50;

export interface RawAnswer {
  readonly status: number;
  /** JSON, decoded. */
  readonly value: Readonly<Record<string, unknown>> & Partial<ApiObject>;
}

interface ExpectedRefusal {
  readonly kind: ErrorKind;
  readonly status: number;
  readonly reason?: string;
  readonly words?: string | RegExp;
}

/** What the tests of a suite share: one namespace, one node, and names that nobody else uses. */
export class World {
  readonly api: HttpApiClient;
  readonly namespace: string;
  readonly node: string;
  readonly #subject: ApiSubject;
  readonly #stamp: string;
  #count = 0;

  constructor(subject: ApiSubject) {
    this.#subject = subject;
    this.#stamp = process.hrtime.bigint().toString(36);
    this.namespace = `conformance-${this.#stamp}`;
    this.node = `node-${this.#stamp}`;
    this.api = new HttpApiClient({
      ...subject.connection,
      clock,
      log: silentLog,
      userAgent: 'conformance',
      limits: { normal: { qps: 0, burst: 1 } },
    });
  }

  async setUp(): Promise<void> {
    await this.api.create(namespaces, undefined, { metadata: { name: this.namespace } });
    await this.api.create<Node>(apiResources.nodes, undefined, { metadata: { name: this.node } });
    // Somebody else makes it; without it there are no pods.
    await until('pods have a service account', () =>
      this.api.get(apiResources.serviceAccounts, { namespace: this.namespace, name: 'default' }),
    );
  }

  async tearDown(): Promise<void> {
    await this.#subject.stop();
  }

  forget(): Promise<void> {
    return this.#subject.forget();
  }

  unique(prefix: string): string {
    return `${prefix}-${this.#count++}-${this.#stamp}`;
  }

  ref(name: string): { readonly namespace: string; readonly name: string } {
    return { namespace: this.namespace, name };
  }

  configMap(more: ConfigMap = {}, name: string = this.unique('map')): Promise<ConfigMap> {
    const object = { ...more, metadata: { name, ...more.metadata } };
    return this.api.create<ConfigMap>(apiResources.configMaps, this.namespace, object);
  }

  /** On our node unless the spec says otherwise; no scheduler looks at it. */
  pod(more: Pick<Pod, 'metadata' | 'status'> & { readonly spec?: Partial<PodSpec> } = {}): Promise<Pod> {
    const spec: PodSpec = {
      nodeName: this.node,
      schedulerName: 'nobody',
      containers: [{ name: 'main', image: 'example.com/none' }],
      ...more.spec,
    };
    const metadata = { name: this.unique('pod'), ...more.metadata };
    return this.api.create<Pod>(apiResources.pods, this.namespace, { ...more, metadata, spec });
  }

  /** The version of the newest write of ours. */
  async version(): Promise<string> {
    const { metadata } = await this.configMap();
    return metadata?.resourceVersion ?? '';
  }

  watch<T extends ApiObject>(resource: ApiResource, request: Partial<TapRequest> = {}): Promise<WatchTap<T>> {
    const inside = resource.namespaced ? { namespace: this.namespace } : {};
    const whole = { ...inside, resourceVersion: '', timeoutSeconds: 60, ...request };
    return WatchTap.open<T>(this.api, clock, resource, whole);
  }

  /** A request as no client of ours would send it. */
  async raw(
    method: TransportRequest['method'],
    path: string,
    body?: unknown,
    contentType = 'application/json',
  ): Promise<RawAnswer> {
    const { transport, credentials } = this.#subject.connection;
    const authorization = await credentials.authorization();
    const answer = await transport.send({
      method,
      path,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': contentType }),
        ...(authorization !== undefined && { authorization }),
      },
      signal: new AbortController().signal,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const value: unknown = JSON.parse(await readBody(answer));
    return { status: answer.status, value: value as RawAnswer['value'] };
  }

  /** The path of a core resource of our namespace. */
  path(resource: string, query: Readonly<Record<string, string>> = {}): string {
    const text = new URLSearchParams(query).toString();
    return `/api/v1/namespaces/${this.namespace}/${resource}${text === '' ? '' : `?${text}`}`;
  }
}

export async function refused(promise: Promise<unknown>, expected: ExpectedRefusal): Promise<ApiError> {
  const error = await promise.then(
    () => assert.fail('it was not refused'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ApiError, `no refusal by the API server: ${String(error)}`);
  const { kind, status, reason, remoteMessage: words = '' } = error;
  const said = typeof expected.words === 'object' ? expected.words.exec(words)?.[0] : words;
  const exact = typeof expected.words === 'object' ? said : expected.words;
  assert.deepEqual(
    {
      kind,
      status,
      ...(expected.reason !== undefined && { reason }),
      ...(expected.words !== undefined && { words: said ?? words }),
    },
    { ...expected, ...(expected.words !== undefined && { words: exact ?? expected.words }) },
  );
  return error;
}

/** The first answer that is no refusal for want of the thing. */
async function until<T>(what: string, ask: () => Promise<T>): Promise<T> {
  const deadline = clock.monotonic() + patienceMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isKind(error, 'notFound')) throw error;
      if (clock.monotonic() > deadline) throw new Error(`waited in vain until ${what}`, { cause: error });
    }
    await clock.sleep(lookMs);
  }
}

/** How a test of the suite is written down. */
export type Examine = (name: string, run: (world: World) => Promise<void>) => void;
