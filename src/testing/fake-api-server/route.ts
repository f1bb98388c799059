import type { TransportRequest } from '../../apiserver/ports.ts';
import { kindAt, type FakeKind } from './kinds.ts';
import { methodNotAllowed, noSuchPath } from './refusal.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** What a request asks for. */
export interface Call {
  readonly verb: Verb;
  readonly kind: FakeKind;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly body: string;
}

/** Only the request's words are looked at, not whether there is such an object. */
export function routeOf({ method, path, headers, body = '' }: Omit<TransportRequest, 'signal'>): Call {
  const url = new URL(path, 'http://fake');
  const [root, ...steps] = url.pathname.split('/').slice(1).map(decodeURIComponent);
  const [group = '', version = '', ...rest] = root === 'api' ? ['', ...steps] : root === 'apis' ? steps : [];
  const { namespace, plural = '', name, below } = placeOf(rest);
  const kind = kindAt(group, version, plural);
  if (kind === undefined || below.length > 1) throw noSuchPath();
  if (namespace !== undefined && !kind.namespaced) throw noSuchPath();
  if (name !== undefined && kind.namespaced && namespace === undefined) throw noSuchPath();
  const { searchParams: query } = url;
  const isWatch = ['1', 'true'].includes(query.get('watch') ?? '');
  return {
    verb: verbOf(method, name !== undefined, isWatch, below.length > 0),
    kind,
    namespace,
    name,
    subresource: below[0],
    query,
    contentType: (headers['content-type'] ?? 'application/json').split(';')[0]?.trim() ?? '',
    body,
  };
}

interface Place {
  readonly namespace?: string | undefined;
  readonly plural?: string | undefined;
  readonly name?: string | undefined;
  readonly below: readonly string[];
}

function placeOf(steps: readonly string[]): Place {
  // A namespace is an object too: what stands behind its name is its own status, or a resource within it.
  if (steps[0] === 'namespaces' && steps.length > 2 && steps[2] !== 'status') {
    const [, namespace, plural, name, ...below] = steps;
    return { namespace, plural, name, below };
  }
  const [plural, name, ...below] = steps;
  return { plural, name, below };
}

function verbOf(method: TransportRequest['method'], named: boolean, isWatch: boolean, isBelow: boolean): Verb {
  switch (method) {
    case 'GET':
      return named ? 'get' : isWatch ? 'watch' : 'list';
    case 'POST':
      if (named !== isBelow) throw methodNotAllowed();
      return 'create';
    case 'PUT':
      if (named) return 'update';
      break;
    case 'PATCH':
      if (named) return 'patch';
      break;
    case 'DELETE':
      // The whole of a collection is never deleted by an agent; it is not offered.
      if (named && !isBelow) return 'delete';
      break;
  }
  throw methodNotAllowed();
}
