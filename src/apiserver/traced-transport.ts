import type { Tracer } from '../base/tracing.ts';
import type { ApiTransport } from './ports.ts';

/** Each request is a span until its answer begins; the API server learns whose it is. */
export function tracedTransport(transport: ApiTransport, tracer: Tracer): ApiTransport {
  return {
    send: (request) =>
      tracer.span(
        `HTTP ${request.method}`,
        // Without the query: selectors and versions tell nobody anything.
        {
          kind: 'client',
          attributes: { 'http.request.method': request.method, 'url.path': request.path.split('?')[0] ?? '' },
        },
        async (span) => {
          const { traceparent } = span;
          const headers = traceparent === undefined ? request.headers : { ...request.headers, traceparent };
          const answer = await transport.send({ ...request, headers });
          span.set({ 'http.response.status_code': answer.status });
          return answer;
        },
      ),
    reset: () => transport.reset(),
    close: () => transport.close(),
  };
}
