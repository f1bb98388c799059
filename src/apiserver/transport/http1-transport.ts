import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type { ApiTransport, TransportAnswer, TransportRequest } from '../ports.ts';
import { abortError, flatHeaders, networkError } from './network-error.ts';

/** Plain HTTP/1.1, for servers at http:// addresses such as `kubectl proxy`: they do not speak HTTP/2 without TLS. */
export class Http1Transport implements ApiTransport {
  readonly #server: URL;
  readonly #proxy: URL | undefined;
  #agent = new Agent({ keepAlive: true });

  constructor(server: URL, proxy?: URL) {
    this.#server = server;
    this.#proxy = proxy;
  }

  send({ method, path, headers, body, signal }: TransportRequest): Promise<TransportAnswer> {
    const { origin, pathname, host } = this.#server;
    const { hostname, port } = this.#proxy ?? this.#server;
    const full = `${pathname.replace(/\/$/, '')}${path}`;
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(abortError(signal));
        return;
      }
      const asked = httpRequest({
        host: hostname.replaceAll(/^\[|\]$/g, ''),
        port: port === '' ? 80 : Number(port),
        method,
        // A proxy needs the whole URL.
        path: this.#proxy === undefined ? full : `${origin}${full}`,
        agent: this.#agent,
        signal,
        headers: { host, ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      });
      asked.on('error', (error) => reject(signal.aborted ? abortError(signal) : networkError(origin, error)));
      asked.once('response', (answer) =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: flatHeaders(answer.headers),
          body: bodyOf(answer, origin, signal),
        }),
      );
      asked.end(body);
    });
  }

  reset(): void {
    this.#agent.destroy();
    this.#agent = new Agent({ keepAlive: true });
  }

  async close(): Promise<void> {
    this.#agent.destroy();
  }
}

async function* bodyOf(answer: IncomingMessage, origin: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const chunk of answer) yield chunk as Uint8Array;
    if (!answer.complete) throw new Error('the connection was closed in the middle of the answer');
  } catch (error) {
    throw signal.aborted ? abortError(signal) : networkError(origin, error);
  }
}
