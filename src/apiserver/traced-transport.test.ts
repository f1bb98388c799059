import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SpanAttributes, Tracer } from '../base/tracing.ts';
import type { ApiTransport, TransportRequest } from './ports.ts';
import { tracedTransport } from './traced-transport.ts';

test('a request is a span with its path and its status, and carries the trace context', async () => {
  const seen: { name: string; attributes: SpanAttributes }[] = [];
  const tracer: Tracer = {
    span: (name, { attributes = {} }, work) => {
      const one = { name, attributes };
      seen.push(one);
      return work({
        traceparent: '00-a-b-01',
        set: (more) => {
          one.attributes = { ...one.attributes, ...more };
        },
      });
    },
  };
  const sent: TransportRequest[] = [];
  const calls: string[] = [];
  const inner: ApiTransport = {
    send: async (request) => {
      sent.push(request);
      return { status: 409, headers: {}, body: (async function* () {})() };
    },
    reset: () => void calls.push('reset'),
    close: async () => void calls.push('close'),
  };
  const traced = tracedTransport(inner, tracer);
  const { signal } = new AbortController();
  const answer = await traced.send({ method: 'GET', path: '/api/v1/pods?watch=1', headers: { accept: 'x' }, signal });
  assert.equal(answer.status, 409);
  assert.deepEqual(seen, [
    {
      name: 'HTTP GET',
      attributes: {
        'http.request.method': 'GET',
        'url.path': '/api/v1/pods',
        'http.response.status_code': 409,
      },
    },
  ]);
  assert.deepEqual(sent[0]?.headers, { accept: 'x', traceparent: '00-a-b-01' });
  traced.reset();
  await traced.close();
  assert.deepEqual(calls, ['reset', 'close']);
});
