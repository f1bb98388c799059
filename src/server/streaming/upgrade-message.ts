import { STATUS_CODES, type IncomingHttpHeaders } from 'node:http';

/** Headers of the client's own connection, and those that would announce a body that is never sent. */
const notPassedOn: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'trailer',
  'te',
  'expect',
  'keep-alive',
  'proxy-connection',
]);

interface UpgradeRequest {
  readonly method: string;
  /** Path and query at the streaming server. */
  readonly path: string;
  readonly host: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they came; used only to count how often a header was there. */
  readonly rawHeaders: readonly string[];
}

/** The head of the request to the streaming server. Bytes of headers are kept: Node reads them as latin1. */
export function upgradeHead(request: UpgradeRequest): Buffer {
  const lines = [`${request.method} ${request.path} HTTP/1.1`, `Host: ${request.host}`];
  const repeated = repeatedHeaders(request.rawHeaders);
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || notPassedOn.has(name)) continue;
    for (const one of valuesOf(value, repeated.get(name))) lines.push(`${name}: ${one}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/**
 * SPDY clients offer each protocol version in a header line of its own, and servers may read them by line. Node joins them;
 * they are taken apart again unless the pipeline has changed them meanwhile (to take a token out).
 */
function valuesOf(value: string | readonly string[], raw: readonly string[] | undefined): readonly string[] {
  if (typeof value !== 'string') return value;
  return raw !== undefined && raw.join(', ') === value ? raw : [value];
}

function repeatedHeaders(rawHeaders: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    const before = values.get(name);
    if (before === undefined) values.set(name, [rawHeaders[index + 1] ?? '']);
    else before.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}

/** So many bytes are enough to classify the answer: `HTTP/1.1 101 `. */
export const answerStartBytes = 13;

/**
 * What becomes of an answer of the streaming server:
 *
 *   101           opens   bytes go through in both directions
 *   2xx 4xx 5xx   refuses the answer is passed on, and that is all
 *   3xx and odd   useless the client gets an answer of ours: this port redirects no client
 */
type AnswerKind = 'opens' | 'refuses' | 'useless';

export function judgeAnswer(start: Buffer): AnswerKind {
  const status = /^HTTP\/1\.[01] (\d{3})[ \r]/.exec(start.toString('latin1', 0, answerStartBytes))?.[1];
  if (status === '101') return 'opens';
  return status !== undefined && /^[2456789]/.test(status) ? 'refuses' : 'useless';
}

/** A whole answer of our own, on a connection that ends with it. */
export function plainAnswer(status: number, words: string): Buffer {
  const body = Buffer.from(`${words}\n`);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: text/plain; charset=utf-8',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
}
