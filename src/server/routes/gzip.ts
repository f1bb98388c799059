import { constants, createGzip, gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { BodySink, Page, RouteRequest, StreamedAnswer } from '../route.ts';
import { acceptsGzip } from './accept.ts';

const compress = promisify(gzip);
/** What Prometheus reads is so repetitive that the quickest level does nearly all the work. */
const options = { level: constants.Z_BEST_SPEED };
/** Below this a page fits into a few packets anyway. */
const minBytes = 4096;
const headers = { 'content-encoding': 'gzip' } as const;

/** The page, compressed off the event loop where it is large and the client can read that. */
export async function gzipPage(page: Page, request: Pick<RouteRequest, 'headers' | 'method'>): Promise<Page> {
  if (page.body.length < minBytes || !acceptsGzip(request.headers['accept-encoding'])) return page;
  return { ...page, headers: { ...page.headers, ...headers }, body: await compress(page.body, options) };
}

/** The stream, compressed where the client can read that. */
export function gzipStream(answer: StreamedAnswer, request: Pick<RouteRequest, 'headers'>): StreamedAnswer {
  if (!acceptsGzip(request.headers['accept-encoding'])) return answer;
  return {
    ...answer,
    headers: { ...answer.headers, ...headers },
    send: async (sink, signal) => {
      const packer = new GzipSink(sink);
      try {
        await answer.send(packer, signal);
        await packer.end();
      } finally {
        packer.destroy();
      }
    },
  };
}

/** Hands on what comes out of a compressor, one chunk at a time: a slow client slows the writer. */
class GzipSink implements BodySink {
  readonly #gzip = createGzip(options);
  readonly #drained: Promise<void>;
  #failure: { readonly reason: unknown } | undefined;
  /** Lets the writer go that waits. */
  #release: () => void = () => {};

  constructor(sink: BodySink) {
    this.#drained = this.#drain(sink);
  }

  async write(chunk: Uint8Array | string): Promise<void> {
    this.#throwFailure();
    // The compressor takes the chunk when it has room; what it puts out waits for the client in `#drain`.
    await new Promise<void>((resolve) => {
      // One that is given up while it is full never says that it took the chunk.
      this.#release = resolve;
      this.#gzip.write(chunk, () => resolve());
    });
    this.#throwFailure();
  }

  async end(): Promise<void> {
    this.#gzip.end();
    await this.#drained;
    this.#throwFailure();
  }

  destroy(): void {
    this.#gzip.destroy();
  }

  async #drain(sink: BodySink): Promise<void> {
    try {
      for await (const chunk of this.#gzip) await sink.write(chunk as Buffer);
    } catch (reason) {
      this.#failure = { reason };
      this.#release();
    }
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.reason;
  }
}
