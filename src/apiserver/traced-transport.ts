import type { Tracer } from '../base/tracing.ts';
import type { ApiTransport } from './ports.ts';

/** Makes each request a span until its answer begins, and passes the trace context to the API server. */
export function tracedTransport(transport: ApiTransport, tracer: Tracer): ApiTransport {
  return {
    send: (request) =>
      tracer.span(
        `HTTP ${request.method}`,
        // Without the query: selectors and versions have no value in a trace.
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
