import { gunzipSync } from 'node:zlib';
import type { RouteRequest, RouteResponse } from '../server/route.ts';

export interface RequestOptions extends Partial<Omit<RouteRequest, 'query' | 'body'>> {
  readonly query?: string;
  readonly body?: string;
}

/** A request as a listener hands it to a handler; default: a GET to the secure listener. */
export function aRequest({ query = '', body = '', ...more }: RequestOptions = {}): RouteRequest {
  return {
    listener: 'secure',
    method: 'GET',
    path: '/',
    params: {},
    headers: {},
    caller: undefined,
    wantsUpgrade: false,
    signal: new AbortController().signal,
    ...more,
    query: new URLSearchParams(query),
    body: Buffer.from(body),
  };
}

interface ReadAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly bytes: Buffer;
  /** In how many pieces it came; 0 for a page. */
  readonly writes: number;
}

/** What a client with room for everything gets, unpacked where it was compressed. */
export async function readAnswer(answer: RouteResponse): Promise<ReadAnswer> {
  if (answer.kind === 'handOver') throw new Error(`handed over to ${answer.to.href}`);
  const { status, contentType, headers = {} } = answer;
  const chunks: Buffer[] = [];
  if (answer.kind === 'page') chunks.push(Buffer.from(answer.body));
  else {
    const write = async (chunk: Uint8Array | string): Promise<void> => void chunks.push(Buffer.from(chunk));
    await answer.send({ write }, new AbortController().signal);
  }
  const bytes = Buffer.concat(chunks);
  const body = (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
  return { status, contentType, headers, body, bytes, writes: answer.kind === 'page' ? 0 : chunks.length };
}
