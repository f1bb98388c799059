import { STATUS_CODES } from 'node:http';
import { withTimeout } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { isKind, kindOf, TubeletError } from '../../base/errors.ts';
import type { HttpAnswer, HttpClient, HttpHeaders } from './ports.ts';

interface FetchOptions {
  readonly client: HttpClient;
  readonly clock: Pick<Clock, 'after'>;
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly signal: AbortSignal;
}

/** For everything together: connections, redirects, body. */
export const fetchTimeoutMs = 10_000;
const maxRedirects = 10;
export const maxBodyBytes = 10 * 1024 * 1024;
const redirectCodes: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The body behind a URL. Throws a TubeletError with the reason why there is none; neither header values nor what the
 * server wrote get into it, because a server may repeat what it was sent.
 */
export async function fetchManifest({ client, clock, url, headers, signal }: FetchOptions): Promise<Uint8Array> {
  const start = URL.canParse(url) ? new URL(url) : undefined;
  if (start === undefined || !isHttp(start)) throw new TubeletError('invalid', 'the URL is not one of http or https');
  try {
    return await withTimeout(clock, fetchTimeoutMs, (limit) => follow(client, start, headers, limit), signal);
  } catch (error) {
    if (isKind(error, 'cancelled') || error instanceof TubeletError) throw error;
    throw new TubeletError(kindOf(error) === 'timeout' ? 'timeout' : 'unavailable', 'no answer', { cause: error });
  }
}

async function follow(client: HttpClient, start: URL, headers: HttpHeaders, signal: AbortSignal): Promise<Uint8Array> {
  let url = start;
  for (let redirects = 0; ; redirects++) {
    const answer = await client.get(url, headers, signal);
    try {
      if (answer.status === 200) return await readBody(answer);
      if (!redirectCodes.has(answer.status) || answer.location === undefined) {
        throw new TubeletError('unavailable', `the server answers ${statusText(answer.status)}`);
      }
      if (redirects === maxRedirects) throw new TubeletError('exhausted', `more than ${maxRedirects} redirects`);
      url = redirectTarget(url, answer.location);
    } finally {
      answer.close();
    }
  }
}

/**
 * Where a redirect leads. The headers go along, so it must lead to the same host: the same port, or from http to https.
 */
export function redirectTarget(from: URL, location: string): URL {
  const target = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (target === undefined || !isHttp(target)) throw new TubeletError('denied', 'redirected to what is no http URL');
  const upgraded = from.protocol === 'http:' && target.protocol === 'https:' && target.hostname === from.hostname;
  if (target.origin === from.origin || upgraded) return target;
  const hint = 'set staticPodURL to the final address if it can be trusted with the headers';
  throw new TubeletError(
    'denied',
    `redirected from ${from.origin} to ${target.origin}, which is not followed; ${hint}`,
  );
}

async function readBody({ body }: HttpAnswer): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new TubeletError('exhausted', `the body has more than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The URL as logs may show it: passwords stand before the host, tokens behind the question mark. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return '<not a URL>';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

function isHttp({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:';
}

function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim();
}
