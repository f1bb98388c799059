import type { Tracer } from '../base/tracing.ts';
import type { Invoke } from './invoke.ts';
import { subjectOf } from './observation.ts';

/** Decorator: each call is a span, named as gRPC names it, and its trace context is passed to the runtime. */
export function withTracing(next: Invoke, tracer: Tracer | undefined): Invoke {
  if (tracer === undefined) return next;
  return (invocation) => {
    const { method, request, options } = invocation;
    const attributes: Record<string, string> = { 'rpc.system': 'grpc' };
    for (const [key, value] of Object.entries(subjectOf(request))) attributes[`cri.${key}`] = String(value);
    return tracer.span(method.path.slice(1), { kind: 'client', attributes }, ({ traceparent }) =>
      next(traceparent === undefined ? invocation : { ...invocation, options: { ...options, traceparent } }),
    );
  };
}
