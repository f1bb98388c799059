export { defaultCollector, grpcCollector } from './grpc-collector.ts';
export { SpanExporter, type Collector } from './span-exporter.ts';
export { SpanTracer } from './span-tracer.ts';
