import type { Handler, Page, RouteRequest } from '../route.ts';
import { parseAccept } from './accept.ts';
import { gzipPage, gzipStream } from './gzip.ts';

const textFormat = 'text/plain; version=0.0.4; charset=utf-8';
/** Ways to write odd names. Ours never are, so that each reads the same; the answer names the one the client asked for. */
const escapings: ReadonlySet<string> = new Set(['allow-utf-8', 'underscores', 'dots', 'values']);

/** A metrics page in the text form that Prometheus reads. */
export function metricsHandler(render: (signal: AbortSignal) => string | Promise<string>): Handler {
  return async (request) => gzipPage(metricsPage(request, await render(request.signal)), request);
}

/** A metrics page that is too large to be made at once. */
export function streamedMetricsHandler(render: (signal: AbortSignal) => AsyncIterable<string>): Handler {
  return async (request) =>
    gzipStream(
      {
        kind: 'stream',
        status: 200,
        contentType: metricsContentType(request.headers.accept),
        send: async (sink, signal) => {
          for await (const lines of render(signal)) await sink.write(lines);
        },
      },
      request,
    );
}

function metricsPage(request: Pick<RouteRequest, 'headers'>, body: string): Page {
  return { kind: 'page', status: 200, contentType: metricsContentType(request.headers.accept), body };
}

export function metricsContentType(accept: string | undefined): string {
  let escaping = 'underscores';
  for (const { value, parameters } of parseAccept(accept)) {
    const asked = parameters.get('escaping') ?? '';
    if (escapings.has(asked)) escaping = asked;
    // What stands behind the format that is chosen is about others.
    if (value === 'text/plain' && ['', '0.0.4'].includes(parameters.get('version') ?? '')) break;
  }
  return `${textFormat}; escaping=${escaping}`;
}
