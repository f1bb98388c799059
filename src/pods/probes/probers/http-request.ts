import type { Container, HTTPGetAction } from '../../../gen/kubernetes/types.ts';
import { goQuote } from '../../../model/go-text.ts';
import { containerPort } from './container-port.ts';
import { hostAndPort } from '../../../model/network-text.ts';

/** One request of a probe: the first, or one of a redirect. */
export interface HttpHop {
  readonly scheme: 'http' | 'https';
  readonly hostname: string;
  readonly port: number;
  /** Host and port as the URL has them; what the Host header says unless the probe says otherwise. */
  readonly authority: string;
  /** Path and query, ready for the request line. */
  readonly target: string;
  /** The URL as messages show it. */
  readonly url: string;
}

export interface HttpProbeRequest {
  readonly hop: HttpHop;
  readonly headers: ReadonlyMap<string, readonly string[]>;
}

/** The version is part of what servers recognise a kubelet by. */
export const probeUserAgent = 'kube-probe/1.34';

/** Headers that belong to the connection or to a body, which a probe does not have. */
const notSent: ReadonlySet<string> = new Set(['Content-Length', 'Transfer-Encoding', 'Trailer']);

export function httpProbeRequest(
  action: HTTPGetAction,
  container: Container,
  podIp: string,
): HttpProbeRequest | { readonly error: string } {
  const resolved = containerPort(action.port, container);
  if ('error' in resolved) return resolved;
  const scheme = action.scheme?.toLowerCase() === 'https' ? 'https' : 'http';
  const hostname = action.host || podIp;
  const authority = hostAndPort(hostname, resolved.port);
  const path = encodePath(action.path ?? '');
  const target = path.startsWith('/') ? path : `/${path}`;
  const url = `${scheme}://${authority}${path === '' || path.startsWith('?') ? path : target}`;
  return { hop: { scheme, hostname, port: resolved.port, authority, target, url }, headers: probeHeaders(action) };
}

function probeHeaders(action: HTTPGetAction): ReadonlyMap<string, readonly string[]> {
  const headers = new Map<string, string[]>();
  for (const { name, value } of action.httpHeaders ?? []) {
    const key = canonicalName(name);
    headers.set(key, [...(headers.get(key) ?? []), value]);
  }
  for (const name of notSent) headers.delete(name);
  // Of these only one can be sent; an empty one means that none is sent.
  const single = (name: string, fallback: string | undefined): void => {
    const value = headers.has(name) ? headers.get(name)?.[0] : fallback;
    if (value === undefined || value === '') headers.delete(name);
    else headers.set(name, [value]);
  };
  single('User-Agent', probeUserAgent);
  single('Host', undefined);
  if (!headers.has('Accept')) headers.set('Accept', ['*/*']);
  else if (headers.get('Accept')?.[0] === '') headers.delete('Accept');
  if (!headers.has('Connection')) headers.set('Connection', ['close']);
  return headers;
}

/** `x-forwarded-for` → `X-Forwarded-For`. */
function canonicalName(name: string): string {
  return name.toLowerCase().replace(/(^|-)[a-z]/g, (letters) => letters.toUpperCase());
}

/** Characters that a request line may not contain: blanks, quotes, controls, and everything beyond ASCII. */
const unsafe = /[^!#$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]/gu;
const brokenEscape = /%(?![0-9A-Fa-f]{2})/;

/** A path as users write it, which may have a query, and which may turn out to be a whole URL. */
function encodePath(path: string): string {
  if (brokenEscape.test(path)) return path.replaceAll(/[%?#]/g, encodeURIComponent).replaceAll(unsafe, encodeUnsafe);
  const local = path.replace(/^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?\/\/[^/?#]*/, '');
  const [withoutFragment = ''] = local.split('#');
  return withoutFragment.replaceAll(unsafe, encodeUnsafe);
}

function encodeUnsafe(character: string): string {
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

/** The redirect of an answer: none, to another request, or to an invalid URL. */
type Redirect =
  | { readonly kind: 'none' }
  | { readonly kind: 'to'; readonly hop: HttpHop; readonly relative: boolean }
  | { readonly kind: 'broken'; readonly reason: string };

const redirectCodes: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export function redirectOf(from: HttpHop, status: number, location: string | undefined): Redirect {
  if (!redirectCodes.has(status) || location === undefined || location === '') return { kind: 'none' };
  const base = `${from.scheme}://${from.authority}${from.target}`;
  if (!URL.canParse(location, base)) {
    return { kind: 'broken', reason: `failed to parse Location header ${goQuote(location)}` };
  }
  const url = new URL(location, base);
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https') {
    return { kind: 'broken', reason: `unsupported protocol scheme ${goQuote(scheme)}` };
  }
  const target = url.pathname + url.search;
  const relative = !/^(?:[a-zA-Z][a-zA-Z0-9+.-]*:|[/\\]{2})/.test(location);
  if (relative)
    return { kind: 'to', relative, hop: { ...from, target, url: `${scheme}://${from.authority}${target}` } };
  const port = url.port === '' ? (scheme === 'https' ? 443 : 80) : Number(url.port);
  const hostname = url.hostname.replaceAll(/^\[|\]$/g, '');
  return { kind: 'to', relative, hop: { scheme, hostname, port, authority: url.host, target, url: url.href } };
}

/** Redirects are followed within one host; a name is the same in capitals. */
export function sameHost(one: HttpHop, other: HttpHop): boolean {
  return one.hostname.toLowerCase() === other.hostname.toLowerCase();
}
