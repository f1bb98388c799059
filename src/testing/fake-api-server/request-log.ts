import type { TransportRequest } from '../../apiserver/ports.ts';
import type { Call, Verb } from './route.ts';

/** A request as it arrived, and what became of it. */
export interface SeenRequest {
  /** Monotonic time. */
  readonly at: number;
  readonly user: string;
  readonly userAgent: string;
  readonly method: TransportRequest['method'];
  readonly path: string;
  /** Undefined where the path leads nowhere. */
  readonly verb: Verb | undefined;
  /** The plural: `pods`. */
  readonly resource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  /** What was sent, as far as it is JSON. */
  readonly body: unknown;
  /** Of the answer; undefined while there is none, and `lost` where none will come. */
  readonly status: number | 'lost' | undefined;
}

export type RequestFilter = Partial<
  Pick<
    SeenRequest,
    'user' | 'userAgent' | 'method' | 'verb' | 'resource' | 'namespace' | 'name' | 'subresource' | 'status'
  >
>;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class RequestLog {
  readonly #seen: Mutable<SeenRequest>[] = [];

  /** `call` is missing where the request makes no sense. */
  add(at: number, user: string, request: TransportRequest, call: Call | undefined): Mutable<SeenRequest> {
    const { method, path, headers, body } = request;
    const seen: Mutable<SeenRequest> = {
      at,
      user,
      userAgent: headers['user-agent'] ?? '',
      method,
      path,
      verb: call?.verb,
      resource: call?.kind.plural,
      namespace: call?.namespace,
      name: call?.name,
      subresource: call?.subresource,
      query: Object.fromEntries(call?.query ?? []),
      body: parsed(body),
      status: undefined,
    };
    this.#seen.push(seen);
    return seen;
  }

  /** Those whose fields are all as the filter says, oldest first. */
  matching(filter: RequestFilter = {}): readonly SeenRequest[] {
    const wanted = Object.entries(filter) as [keyof RequestFilter, unknown][];
    return this.#seen.filter((seen) => wanted.every(([field, value]) => seen[field] === value));
  }

  clear(): void {
    this.#seen.length = 0;
  }
}

function parsed(body: string | undefined): unknown {
  if (body === undefined) return undefined;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    // Somebody sent rubbish, which is told as it is.
    return body;
  }
}
